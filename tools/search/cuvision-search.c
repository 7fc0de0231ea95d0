/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Finds the pictures of an index that look most like a picture. */
#include "config.h"
#include "search-tool.h"

#include <locale.h>
#include <stdio.h>
#include <string.h>

/* What the root has all ranks do. */
typedef enum {
  COMMAND_END,
  COMMAND_FIND,    /* entries of a name, whose bytes follow */
  COMMAND_PICTURE, /* compare with a descriptor, which follows */
  COMMAND_ENTRY,   /* compare with entry `number` */
} CommandKind;

typedef struct {
  guint32 kind;
  guint32 size; /* bytes of the name */
  guint64 number;
} Command;

typedef struct {
  SearchOptions options;
  CuvProcessor processor;
  Part part;
  Scan *scan;
  guint8 *packed; /* the query's descriptor */
  Queries *queries;
  gboolean skipped; /* a query */
} Search;

/* ---- steps of all ranks ---- */

static gboolean
files_are_unchanged (Search *self, gboolean now)
{
  return ranks_agree (part_find_change (&self->part, now));
}

/* At the root *all has the numbers of the entries of a name. */
static gboolean
find_entries (
    Search *self, const Command *command, const gchar *name, GArray **all)
{
  gchar *text;
  GArray *own;
  GByteArray *bytes;

  if (!files_are_unchanged (self, FALSE))
    return FALSE;
  text = g_malloc0 ((gsize) command->size + 1);
  if (name != NULL)
    memcpy (text, name, command->size);
  ranks_broadcast (text, command->size, 0);
  own = part_find (&self->part, text);
  bytes = ranks_gather (own->data, own->len * sizeof (guint64));
  if (bytes != NULL) {
    *all = g_array_new (FALSE, FALSE, sizeof (guint64));
    g_array_append_vals (*all, bytes->data, bytes->len / sizeof (guint64));
    g_byte_array_unref (bytes);
  }
  g_array_unref (own);
  g_free (text);
  return TRUE;
}

/* Files are looked at before they are read, as one that was cut off cannot be;
 * of what changed meanwhile the next query tells, or the end. */
static gboolean
compare (Search *self, const Command *command, Found *found)
{
  const gsize size = part_info (&self->part)->descriptor_size;
  gint from = 0;

  if (!files_are_unchanged (self, FALSE))
    return FALSE;
  if (command->kind == COMMAND_ENTRY) {
    const IndexFile *file = part_file (&self->part, command->number);

    from = part_owner (&self->part, command->number);
    if (from == ranks.rank)
      memcpy (self->packed,
          cuv_ldp_index_descriptor (file->index, command->number - file->first),
          size);
  }
  ranks_broadcast (self->packed, size, from);
  return scan_run (self->scan, self->packed, found);
}

/* Until the root says so, or something fails. */
static gboolean
serve (Search *self)
{
  for (;;) {
    Command command;
    Found found;
    gboolean ok;

    ranks_await (&command, sizeof command);
    if (command.kind == COMMAND_END)
      return files_are_unchanged (self, TRUE);
    ok = command.kind == COMMAND_FIND
        ? find_entries (self, &command, NULL, NULL)
        : compare (self, &command, &found);
    if (!ok)
      return FALSE;
  }
}

/* ---- the root ---- */

typedef enum {
  NEXT,    /* go on with the next query */
  FAILED,  /* the root cannot go on: tell the others */
  ALL_END, /* the ranks have ended together */
} Outcome;

static Outcome
ask (Search *self, Command command, const RecordQuery *query)
{
  Found found;

  ranks_await (&command, sizeof command);
  if (!compare (self, &command, &found))
    return ALL_END;
  return record_print (query, &found, &self->part) ? NEXT : FAILED;
}

static Outcome
skip (Search *self, const gchar *query, const gchar *problem)
{
  gchar *name = g_filename_display_name (query);
  const gboolean ok = record_print_problem (query, problem);

  g_printerr ("skipped: %s: %s\n", name, problem);
  g_free (name);
  self->skipped = TRUE;
  return ok ? NEXT : FAILED;
}

static Outcome
ask_picture (Search *self, const gchar *path)
{
  RecordQuery query = { .query = path, .entry = -1 };
  gchar *problem;
  const void *packed = queries_describe (
      self->queries, path, self->processor.n_threads, &query.times, &problem);
  Outcome outcome;

  if (packed == NULL) {
    outcome = skip (self, path, problem);
    g_free (problem);
    return outcome;
  }
  memcpy (self->packed, packed, part_info (&self->part)->descriptor_size);
  return ask (self, (Command){ .kind = COMMAND_PICTURE }, &query);
}

static Outcome
ask_entry (Search *self, const gchar *text, guint64 number)
{
  const RecordQuery query = { .query = text, .entry = (gint64) number };

  return ask (
      self, (Command){ .kind = COMMAND_ENTRY, .number = number }, &query);
}

static Outcome
ask_number (Search *self, const gchar *text)
{
  const guint64 n = self->part.n;
  guint64 number;
  gchar *problem;
  Outcome outcome;

  if (n > 0 && g_ascii_string_to_unsigned (text, 10, 0, n - 1, &number, NULL))
    return ask_entry (self, text, number);
  problem = g_strdup_printf ("this is not the number of an entry: there are "
                             "%" G_GUINT64_FORMAT ", from 0 on",
      n);
  outcome = skip (self, text, problem);
  g_free (problem);
  return outcome;
}

/* A query for each entry of the name. */
static Outcome
ask_name (Search *self, const gchar *name)
{
  Command command = { .kind = COMMAND_FIND, .size = (guint32) strlen (name) };
  Outcome outcome = NEXT;
  GArray *entries;

  ranks_await (&command, sizeof command);
  if (!find_entries (self, &command, name, &entries))
    return ALL_END;
  for (guint i = 0; outcome == NEXT && i < entries->len; i++)
    outcome = ask_entry (self, name, g_array_index (entries, guint64, i));
  if (entries->len == 0)
    outcome = skip (self, name, "no entry has this name");
  g_array_unref (entries);
  return outcome;
}

static gboolean
lead (Search *self)
{
  Command end = { .kind = COMMAND_END };
  Outcome outcome = NEXT;
  const gchar *query;

  while (outcome == NEXT && (query = queries_next (self->queries)) != NULL) {
    if (self->options.kind == SEARCH_PICTURES)
      outcome = ask_picture (self, query);
    else if (self->options.kind == SEARCH_NUMBERS)
      outcome = ask_number (self, query);
    else
      outcome = ask_name (self, query);
  }
  if (outcome == ALL_END)
    return FALSE;
  ranks_await (&end, sizeof end);
  if (!files_are_unchanged (self, TRUE))
    return FALSE;
  return outcome == NEXT && !self->skipped;
}

/* ---- main ---- */

/* What only the root needs. */
static gchar *
open_root (Search *self)
{
  const SearchOptions *options = &self->options;

  if (!ranks_is_root ())
    return NULL;
  self->queries = queries_new (options, part_info (&self->part));
  if (self->queries == NULL)
    return g_strdup ("pictures cannot be described");
  return options->output != NULL ? record_open (options->output) : NULL;
}

static gboolean
open_search (Search *self)
{
  const SearchOptions *options = &self->options;

  if (!ranks_agree (device_choose (options, &self->processor))
      || !part_open (&self->part, options, self->processor.n_threads))
    return FALSE;
  self->scan = scan_new (&self->part, options, &self->processor);
  if (self->scan == NULL)
    return FALSE;
  self->packed = g_malloc (part_info (&self->part)->descriptor_size);
  return ranks_agree (open_root (self));
}

static void
close_search (Search *self)
{
  queries_free (self->queries);
  scan_free (self->scan);
  part_close (&self->part);
  g_free (self->packed);
}

/* The root's exit status for all. */
static int
run (Search *self)
{
  int status = 1;

  if (open_search (self))
    status = (ranks_is_root () ? lead (self) : serve (self)) ? 0 : 1;
  close_search (self);
  ranks_broadcast (&status, sizeof status, 0);
  return status;
}

/* Exit status 0: success; 1: failure; 2: wrong command line. */
int
main (int argc, char **argv)
{
  Search search = { 0 };
  gchar *text = NULL;
  SearchParsed parsed;
  int status;

  setlocale (LC_ALL, "");
  ranks_init (&argc, &argv);
  parsed = options_parse (&argc, &argv, &search.options, &text);
  if (parsed == SEARCH_RUN)
    status = run (&search);
  else
    status = parsed == SEARCH_HELP ? 0 : 2;
  if (parsed == SEARCH_HELP && ranks_is_root ())
    fputs (text, stdout); /* UTF-8 or ASCII in all locales */
  if (parsed == SEARCH_WRONG && ranks_is_root ())
    g_printerr ("cuvision-search: %s (see --help)\n", text);
  g_free (text);
  ranks_finish ();
  return status;
}
