/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Plugin of QEMU 7.2 (Debian 12) that counts the instructions which each
 * function of a program executes, and prints them when the program ends; for
 * docs/benchmarks/arm.md. Debian has no qemu-plugin.h. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct qemu_plugin_tb;
struct qemu_plugin_insn;

enum { QEMU_PLUGIN_INLINE_ADD_U64 };

size_t qemu_plugin_tb_n_insns (const struct qemu_plugin_tb *tb);
struct qemu_plugin_insn *qemu_plugin_tb_get_insn (
    const struct qemu_plugin_tb *tb, size_t index);
const char *qemu_plugin_insn_symbol (const struct qemu_plugin_insn *insn);
void qemu_plugin_register_vcpu_tb_trans_cb (
    uint64_t id, void (*func) (uint64_t id, struct qemu_plugin_tb *tb));
void qemu_plugin_register_vcpu_tb_exec_inline (
    struct qemu_plugin_tb *tb, int op, void *at, uint64_t value);
void qemu_plugin_register_atexit_cb (
    uint64_t id, void (*func) (uint64_t id, void *data), void *data);

int qemu_plugin_install (uint64_t id, const void *info, int argc, char *argv[]);
extern int qemu_plugin_version;
int qemu_plugin_version = 1;

enum { MAX_FUNCTIONS = 1 << 14 };

typedef struct {
  char *name;
  uint64_t n;
} Function;

/* The last entry is for all functions that have no entry of their own. */
static Function functions[MAX_FUNCTIONS];

static const char *
function_name (const struct qemu_plugin_tb *tb, size_t index)
{
  const char *name =
      qemu_plugin_insn_symbol (qemu_plugin_tb_get_insn (tb, index));

  return name != NULL ? name : "other libraries";
}

static Function *
find_function (const char *name)
{
  int i = 0;

  while (i < MAX_FUNCTIONS - 1 && functions[i].name != NULL
      && strcmp (functions[i].name, name) != 0)
    i++;
  if (functions[i].name == NULL)
    functions[i].name = strdup (i < MAX_FUNCTIONS - 1 ? name : "others");
  return &functions[i];
}

/* Needs no lock: QEMU holds one while it translates. */
static void
count_block (uint64_t id, struct qemu_plugin_tb *tb)
{
  const size_t n = qemu_plugin_tb_n_insns (tb);

  for (size_t i = 0; i < n; i++)
    qemu_plugin_register_vcpu_tb_exec_inline (tb, QEMU_PLUGIN_INLINE_ADD_U64,
        &find_function (function_name (tb, i))->n, 1);
}

static int
compare (const void *a, const void *b)
{
  const Function *x = a, *y = b;

  return (x->n < y->n) - (x->n > y->n);
}

static void
report (uint64_t id, void *data)
{
  qsort (functions, MAX_FUNCTIONS, sizeof *functions, compare);
  for (int i = 0; i < MAX_FUNCTIONS && functions[i].n > 0; i++)
    fprintf (stderr, "%14llu %s\n", (unsigned long long) functions[i].n,
        functions[i].name);
}

int
qemu_plugin_install (uint64_t id, const void *info, int argc, char *argv[])
{
  qemu_plugin_register_vcpu_tb_trans_cb (id, count_block);
  qemu_plugin_register_atexit_cb (id, report, NULL);
  return 0;
}
