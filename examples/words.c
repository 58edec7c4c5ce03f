/* Counts how often each word of a file occurs, and prints how many there are. It is slow in three ways, which docs/tutorial.md
   finds: it searches all words from the beginning for each word (find_word), it asks the kernel for one byte
   at a time (next_byte), and it waits although nobody needs it to (be_polite). With -DFIXED it does none of that.

       cc -g -O2 -fno-omit-frame-pointer words.c -o words
       cc -g -O2 -fno-omit-frame-pointer -DFIXED words.c -o fixed/words */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define MAX_WORDS 8192 /* a power of two */
#define MAX_LENGTH 32
#define SEPARATE __attribute__((noinline)) /* so that profiles show the function */

struct word {
  char text[MAX_LENGTH];
  long count;
};

static struct word words[MAX_WORDS];
static int used;

static inline int same(const char *left, const char *right) {
  while (*left && *left == *right) ++left, ++right;
  return *left == *right;
}

#ifdef FIXED

SEPARATE static int next_byte(int file) {
  static unsigned char buffer[65536];
  static ssize_t at, length;
  if (at == length) {
    at = 0;
    length = read(file, buffer, sizeof buffer);
    if (length <= 0) return EOF;
  }
  return buffer[at++];
}

SEPARATE static struct word *find_word(const char *text) {
  unsigned long hash = 5381;
  for (const char *letter = text; *letter; ++letter) hash = hash * 33 + (unsigned char)*letter;
  for (unsigned long at = hash % MAX_WORDS;; at = (at + 1) % MAX_WORDS) {
    if (!words[at].count && used++ == MAX_WORDS - 1) exit(1);
    if (!words[at].count || same(words[at].text, text)) return &words[at];
  }
}

static void be_polite(void) {}

#else

SEPARATE static int next_byte(int file) {
  unsigned char byte;
  return read(file, &byte, 1) == 1 ? byte : EOF;
}

SEPARATE static struct word *find_word(const char *text) {
  for (int i = 0; i < used; ++i)
    if (same(words[i].text, text)) return &words[i];
  if (used == MAX_WORDS - 1) exit(1);
  return &words[used++];
}

SEPARATE static int doze(struct timespec *time) { return nanosleep(time, time) == 0; }

SEPARATE static void be_polite(void) {
  struct timespec moment = {.tv_nsec = 2000000};
  while (!doze(&moment)) continue;
}

#endif

SEPARATE static void count_word(const char *text) {
  struct word *found = find_word(text);
  strcpy(found->text, text);
  found->count++;
}

SEPARATE static long count_words(int file) {
  char text[MAX_LENGTH];
  long total = 0;
  for (int length = 0, byte; (byte = next_byte(file)) != EOF;) {
    if (byte > ' ' && length < MAX_LENGTH - 1) {
      text[length++] = (char)byte;
    } else if (byte <= ' ' && length > 0) {
      text[length] = 0;
      length = 0;
      count_word(text);
      if (++total % 500 == 0) be_polite();
    }
  }
  return total;
}

int main(int count, char **arguments) {
  int file = count == 2 ? open(arguments[1], O_RDONLY) : -1;
  if (file < 0) {
    fprintf(stderr, "words FILE\n");
    return 1;
  }
  long total = count_words(file);
  printf("%ld words, %d different\n", total, used);
  return 0;
}
