/* Prints everything that a filter is told: every field of the sample, and the answer of every
 * function. Its arguments: "early" for filter_event_early as well, "keep=N" to keep every Nth
 * sample only, "fail" to fail at the first sample. */
#include <perf/perf_dlfilter.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct perf_dlfilter_fns perf_dlfilter_fns;

static int early, fails, quiet;
static long keep = 1;
static long seen;

static void print_place(const char *name, const struct perf_dlfilter_al *al, int is_ip)
{
	__u32 i;

	if (!al) {
		printf(" %s none\n", name);
		return;
	}
	printf(" %s sym=%s symoff=%u addr=%llx start=%llx end=%llx binding=%u dso=%s 64=%d kernel=%u", name,
	       al->sym ? al->sym : "-", al->sym ? al->symoff : 0, (unsigned long long)al->addr,
	       (unsigned long long)al->sym_start, (unsigned long long)al->sym_end, al->sym_binding,
	       al->dso ? al->dso : "-", al->dso ? al->is_64_bit : -1, al->is_kernel_ip);
	printf(" buildid=");
	for (i = 0; i < al->buildid_size; i++)
		printf("%02x", al->buildid[i]);
	if (is_ip)
		printf(" filtered=%u comm=%s", al->filtered, al->comm ? al->comm : "-");
	printf("\n");
}

static void print_sample(const char *where, const struct perf_dlfilter_sample *s)
{
	__u64 i;

	printf("%s ip=%llx pid=%d tid=%d time=%llu addr=%llx id=%llu stream=%llu period=%llu", where,
	       (unsigned long long)s->ip, s->pid, s->tid, (unsigned long long)s->time,
	       (unsigned long long)s->addr, (unsigned long long)s->id, (unsigned long long)s->stream_id,
	       (unsigned long long)s->period);
	printf(" weight=%llu ins_lat=%u stage=%u txn=%llx insns=%llu cycles=%llu cpu=%d flags=%x",
	       (unsigned long long)s->weight, s->ins_lat, s->p_stage_cyc,
	       (unsigned long long)s->transaction, (unsigned long long)s->insn_cnt,
	       (unsigned long long)s->cyc_cnt, s->cpu, s->flags);
	printf(" data_src=%llx phys=%llx dpage=%llu cpage=%llu cgroup=%llu mode=%u sym=%u misc=%x",
	       (unsigned long long)s->data_src, (unsigned long long)s->phys_addr,
	       (unsigned long long)s->data_page_size, (unsigned long long)s->code_page_size,
	       (unsigned long long)s->cgroup, s->cpumode, s->addr_correlates_sym, s->misc);
	printf(" event=%s machine=%d vcpu=%d raw=%u:", s->event, s->machine_pid, s->vcpu, s->raw_size);
	for (i = 0; i < s->raw_size; i++)
		printf("%02x", ((const unsigned char *)s->raw_data)[i]);
	printf(" chain=%llu:", (unsigned long long)s->raw_callchain_nr);
	for (i = 0; i < s->raw_callchain_nr; i++)
		printf(" %llx", (unsigned long long)s->raw_callchain[i]);
	printf(" branches=%llu:", (unsigned long long)s->brstack_nr);
	for (i = 0; i < s->brstack_nr; i++)
		printf(" %llx/%llx/%u", (unsigned long long)s->brstack[i].from,
		       (unsigned long long)s->brstack[i].to, s->brstack[i].mispred);
	printf("\n");
}

static void print_answers(const struct perf_dlfilter_sample *s, void *ctx)
{
	const struct perf_event_attr *attr = perf_dlfilter_fns.attr(ctx);
	struct perf_dlfilter_al al;
	unsigned char code[24];
	const __u8 *insn;
	const char *file;
	__u32 length = 0, line = 0;
	__s32 read;
	__u64 i;
	int argc = -1;

	print_place("ip", perf_dlfilter_fns.resolve_ip(ctx), 1);
	print_place("addr", perf_dlfilter_fns.resolve_addr(ctx), 0);
	for (i = 0; i < s->raw_callchain_nr && i < 8; i++) {
		memset(&al, 0, sizeof(al));
		al.size = sizeof(al);
		if ((__s64)s->raw_callchain[i] < 0 && (__s64)s->raw_callchain[i] > -4096)
			continue;
		if (perf_dlfilter_fns.resolve_address(ctx, s->raw_callchain[i], &al))
			printf(" caller unresolved\n");
		else
			print_place("caller", &al, 0);
	}
	insn = perf_dlfilter_fns.insn(ctx, &length);
	printf(" insn");
	for (i = 0; insn && i < length; i++)
		printf(" %02x", insn[i]);
	file = perf_dlfilter_fns.srcline(ctx, &line);
	printf("\n line %s:%u\n", file ? file : "-", file ? line : 0);
	printf(" attr %u %llx %llx %llu\n", attr->type, (unsigned long long)attr->config,
	       (unsigned long long)attr->sample_type, (unsigned long long)attr->sample_period);
	read = perf_dlfilter_fns.object_code(ctx, s->ip, code, sizeof(code));
	printf(" code %d:", read);
	for (i = 0; read > 0 && i < (__u64)read; i++)
		printf(" %02x", code[i]);
	perf_dlfilter_fns.args(ctx, &argc);
	printf(" args %d\n", argc);
}

int start(void **data, void *ctx)
{
	int argc = -1, i;
	char **argv = perf_dlfilter_fns.args(ctx, &argc);

	*data = &seen;
	for (i = 0; i < argc; i++) {
		printf("argument %s\n", argv[i]);
		if (!strcmp(argv[i], "early"))
			early = 1;
		if (!strcmp(argv[i], "quiet"))
			quiet = 1;
		if (!strcmp(argv[i], "fail"))
			fails = 1;
		if (!strcmp(argv[i], "fail-start"))
			return -5;
		if (!strncmp(argv[i], "keep=", 5))
			keep = atol(argv[i] + 5);
	}
	printf("start: ip %p attr %p\n", (void *)perf_dlfilter_fns.resolve_ip(ctx),
	       (void *)perf_dlfilter_fns.attr(ctx));
	return 0;
}

int stop(void *data, void *ctx)
{
	int argc = -1;

	perf_dlfilter_fns.args(ctx, &argc);
	printf("stop: %ld samples, %d arguments, ip %p\n", *(long *)data, argc,
	       (void *)perf_dlfilter_fns.resolve_ip(ctx));
	return 0;
}

int filter_event_early(void *data, const struct perf_dlfilter_sample *sample, void *ctx)
{
	const struct perf_dlfilter_al *al;

	(void)data;
	if (!early)
		return 0;
	al = perf_dlfilter_fns.resolve_ip(ctx);
	printf("early %d %llu filtered %d\n", sample->tid, (unsigned long long)sample->time,
	       al ? al->filtered != 0 : -1);
	return early && sample->time % 5 == 0;
}

int filter_event(void *data, const struct perf_dlfilter_sample *sample, void *ctx)
{
	long *count = data;

	if (fails)
		return -7;
	if (!quiet) {
		print_sample("sample", sample);
		print_answers(sample, ctx);
	}
	return ++*count % keep != 0;
}

const char *filter_description(const char **long_description)
{
	static const char text[] = "every field of the sample\nand the answer of every function";

	if (long_description)
		*long_description = text;
	return "Prints what a filter is told";
}
