/* Counts how often each word occurs in some files, with a thread for each file, and prints how many there are. It is slow in three
   ways, which docs/tutorial.md finds: it searches all words from the beginning for each word (find_word), it asks the kernel for
   one byte at a time (next_byte), and its threads hold the lock that the others wait for while they sleep, to be polite
   (count_word, be_polite). With -DFIXED it does none of that: each thread has a table of its own.

       cc -O2 -g -pthread words.c -o words
       cc -O2 -g -pthread -DFIXED words.c -o fixed/words */
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define MAX_FILES 8
#define MAX_WORDS 8192 /* a power of two */
#define MAX_LENGTH 32
#define SEPARATE __attribute__((noinline)) /* so that profiles show the function */

struct word {
  char text[MAX_LENGTH];
  long count;
};

struct table {
  struct word words[MAX_WORDS];
  int used;
};

struct job {
  pthread_t thread;
  struct table *table;
  int file;
  long total;
};

#ifdef FIXED
#define TABLES MAX_FILES /* each thread has its own; they are merged at the end */
#else
#define TABLES 1
#endif

static struct table tables[TABLES];

static inline int same(const char *left, const char *right) {
  while (*left && *left == *right) ++left, ++right;
  return *left == *right;
}

#ifdef FIXED

SEPARATE static int next_byte(int file) {
  static _Thread_local unsigned char buffer[65536];
  static _Thread_local ssize_t at, length;
  if (at == length) {
    at = 0;
    length = read(file, buffer, sizeof buffer);
    if (length <= 0) return EOF;
  }
  return buffer[at++];
}

SEPARATE static struct word *find_word(struct table *table, const char *text) {
  unsigned long hash = 5381;
  for (const char *letter = text; *letter; ++letter) hash = hash * 33 + (unsigned char)*letter;
  for (unsigned long at = hash % MAX_WORDS;; at = (at + 1) % MAX_WORDS) {
    struct word *word = &table->words[at];
    if (!word->count && table->used++ == MAX_WORDS - 1) exit(1);
    if (!word->count || same(word->text, text)) return word;
  }
}

#else

SEPARATE static int next_byte(int file) {
  unsigned char byte;
  return read(file, &byte, 1) == 1 ? byte : EOF;
}

SEPARATE static struct word *find_word(struct table *table, const char *text) {
  for (int i = 0; i < table->used; ++i)
    if (same(table->words[i].text, text)) return &table->words[i];
  if (table->used == MAX_WORDS - 1) exit(1);
  return &table->words[table->used++];
}

#endif

static void add(struct table *table, const char *text, long count) {
  struct word *found = find_word(table, text);
  strcpy(found->text, text);
  found->count += count;
}

static void merge(const struct table *other) {
  for (const struct word *word = other->words; word < other->words + MAX_WORDS; ++word)
    if (word->count) add(tables, word->text, word->count);
}

#ifdef FIXED

static void count_word(struct table *table, const char *text, long total) {
  (void)total;
  add(table, text, 1);
}

#else

static pthread_mutex_t table_lock = PTHREAD_MUTEX_INITIALIZER;

SEPARATE static void be_polite(void) {
  struct timespec moment = {.tv_nsec = 2000000};
  while (nanosleep(&moment, &moment)) continue;
}

SEPARATE static void count_word(struct table *table, const char *text, long total) {
  pthread_mutex_lock(&table_lock);
  add(table, text, 1);
  if (total % 500 == 0) be_polite();
  pthread_mutex_unlock(&table_lock);
}

#endif

SEPARATE static void *count_words(void *argument) {
  struct job *job = argument;
  char text[MAX_LENGTH];
  for (int length = 0, byte; (byte = next_byte(job->file)) != EOF;) {
    if (byte > ' ' && length < MAX_LENGTH - 1) {
      text[length++] = (char)byte;
    } else if (byte <= ' ' && length > 0) {
      text[length] = 0;
      length = 0;
      count_word(job->table, text, ++job->total);
    }
  }
  return NULL;
}

int main(int count, char **arguments) {
  struct job jobs[MAX_FILES];
  int files = count - 1;
  long total = 0;
  if (files < 1 || files > MAX_FILES) {
    fprintf(stderr, "words FILE...\n");
    return 1;
  }
  for (int i = 0; i < files; ++i) {
    jobs[i] = (struct job){.table = &tables[i % TABLES], .file = open(arguments[i + 1], O_RDONLY)};
    if (jobs[i].file < 0 || pthread_create(&jobs[i].thread, NULL, count_words, &jobs[i])) {
      fprintf(stderr, "words: cannot read %s\n", arguments[i + 1]);
      return 1;
    }
  }
  for (int i = 0; i < files; ++i) {
    pthread_join(jobs[i].thread, NULL);
    total += jobs[i].total;
  }
  for (int i = 1; i < files && i < TABLES; ++i) merge(&tables[i]);
  printf("%ld words, %d different\n", total, tables[0].used);
  return 0;
}
