/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Tests of the writer with a scripted target. */
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>
#include "cuvelements.h"
#include "output/writer.h"

typedef struct {
  CuvTarget target;
  GMutex lock;
  GString *text; /* what was written to all connections, '|' before each */
  gboolean present, can_retract;
  gsize at_most; /* maximum number of bytes per write */
  gsize room;    /* bytes that still fit */
  guint fail;    /* number of next writes that fail */
  guint lose;    /* number of next writes that lose the connection */
  gint hangs;    /* while TRUE no write returns */
  guint n_writes, n_retracts;
} Fake;

/* A timeout in milliseconds that even a busy machine does not reach. */
#define LONG_TIMEOUT 20000

static gint freed;

static CuvTargetState
fake_open (CuvTarget *target, GError **error)
{
  Fake *self = (Fake *) target;

  if (!self->present)
    return CUV_TARGET_NOT_YET;
  g_mutex_lock (&self->lock);
  g_string_append_c (self->text, '|');
  g_mutex_unlock (&self->lock);
  target->connected = target->empty = TRUE;
  return CUV_TARGET_OPEN;
}

static gssize
fake_write (CuvTarget *target, const gchar *data, gsize size, GError **error)
{
  Fake *self = (Fake *) target;
  gssize n = -1;

  while (g_atomic_int_get (&self->hangs))
    g_usleep (1000);
  g_mutex_lock (&self->lock);
  self->n_writes++;
  if (self->fail > 0 || self->room == 0) {
    self->fail -= self->fail > 0;
    g_set_error_literal (error, G_IO_ERROR, G_IO_ERROR_NO_SPACE, "full");
  } else if (self->lose > 0) {
    self->lose--;
    target->connected = FALSE;
    g_set_error_literal (error, G_IO_ERROR, G_IO_ERROR_BROKEN_PIPE, "gone");
  } else {
    n = (gssize) MIN (size, MIN (self->at_most, self->room));
    self->room -= (gsize) n;
    g_string_append_len (self->text, data, n);
  }
  g_mutex_unlock (&self->lock);
  if (n == 0)
    g_usleep (1000);
  return n;
}

static gboolean
fake_retract (CuvTarget *target, gsize size)
{
  Fake *self = (Fake *) target;

  if (!self->can_retract)
    return FALSE;
  self->n_retracts++;
  self->room += size;
  g_string_truncate (self->text, self->text->len - size);
  return TRUE;
}

static void
fake_free (CuvTarget *target)
{
  Fake *self = (Fake *) target;

  g_string_free (self->text, TRUE);
  g_free (target->name);
  g_free (self);
  g_atomic_int_set (&freed, TRUE);
}

static const CuvTargetClass fake_class = { fake_open, fake_write, fake_retract,
  NULL, fake_free };
static const CuvFraming framing = { "<", ",", ">" };

static Fake *
fake_new (void)
{
  Fake *self = g_new0 (Fake, 1);

  self->target.klass = &fake_class;
  self->target.name = g_strdup ("fake");
  self->text = g_string_new (NULL);
  self->present = self->can_retract = TRUE;
  self->at_most = 1000;
  self->room = G_MAXSIZE;
  freed = FALSE;
  return self;
}

static CuvWriter *
writer_new (Fake *fake)
{
  CuvWriter *writer = cuv_writer_new (&fake->target, &framing, NULL);

  fail_unless (writer != NULL);
  return writer;
}

static void
push (CuvWriter *writer, const gchar *text)
{
  cuv_writer_push (writer, g_strdup (text), strlen (text));
}

static void
fail_unless_text (Fake *fake, const gchar *expected)
{
  g_mutex_lock (&fake->lock);
  fail_unless_equals_string (fake->text->str, expected);
  g_mutex_unlock (&fake->lock);
}

/* Stops the writer and returns the last warning. */
static gchar *
stop (CuvWriter *writer, guint milliseconds, CuvWriterCounts *counts)
{
  gchar *warning;

  cuv_writer_stop (writer, milliseconds, counts, &warning);
  return warning;
}

static void
stop_cleanly (CuvWriter *writer)
{
  CuvWriterCounts counts;

  fail_unless (stop (writer, LONG_TIMEOUT, &counts) == NULL);
  fail_unless_equals_int (counts.dropped, 0);
  fail_unless_equals_int (counts.queue, 0);
  fail_unless (g_atomic_int_get (&freed));
}

CUV_TEST (test_framing)
{
  Fake *fake = fake_new ();
  CuvWriter *writer = writer_new (fake);

  push (writer, "one");
  push (writer, "two");
  fail_unless (cuv_writer_finish (writer, LONG_TIMEOUT));
  fail_unless_text (fake, "|<one,two>");
  /* no second end */
  fail_unless (cuv_writer_finish (writer, LONG_TIMEOUT));
  fail_unless_text (fake, "|<one,two>");
  /* records after the end retract it */
  push (writer, "three");
  fail_unless (cuv_writer_finish (writer, LONG_TIMEOUT));
  fail_unless_text (fake, "|<one,two,three>");
  stop_cleanly (writer);
}

CUV_TEST (test_no_record)
{
  Fake *fake = fake_new ();
  CuvWriter *writer = writer_new (fake);

  fail_unless (cuv_writer_finish (writer, LONG_TIMEOUT));
  fail_unless_text (fake, "|<>");
  stop_cleanly (writer);
}

CUV_TEST (test_no_retraction)
{
  Fake *fake = fake_new ();
  CuvWriter *writer = writer_new (fake);

  fake->can_retract = FALSE;
  push (writer, "one");
  fail_unless (cuv_writer_finish (writer, LONG_TIMEOUT));
  push (writer, "two");
  push (writer, "three");
  fail_unless (cuv_writer_finish (writer, LONG_TIMEOUT));
  fail_unless_text (fake, "|<one><two,three>");
  stop_cleanly (writer);
}

CUV_TEST (test_short_writes)
{
  Fake *fake = fake_new ();
  CuvWriter *writer = writer_new (fake);
  CuvWriterCounts counts;

  fake->at_most = 1;
  push (writer, "first");
  push (writer, "second");
  fail_unless (cuv_writer_finish (writer, LONG_TIMEOUT));
  fail_unless_text (fake, "|<first,second>");
  cuv_writer_get_counts (writer, &counts);
  fail_unless_equals_int (counts.records, 2);
  fail_unless_equals_int (counts.bytes, strlen ("<first,second>"));
  stop_cleanly (writer);
}

/* A temporary failure loses no record and causes one warning. */
CUV_TEST (test_failure_and_recovery)
{
  Fake *fake = fake_new ();
  CuvWriter *writer;
  g_autofree gchar *warning = NULL;

  fake->fail = 3;
  writer = writer_new (fake);
  push (writer, "one");
  push (writer, "two");
  while (!cuv_writer_finish (writer, LONG_TIMEOUT)) {
  }
  fail_unless_text (fake, "|<one,two>");
  warning = cuv_writer_take_warning (writer);
  fail_unless (strstr (warning, "'fake'") && strstr (warning, "full"));
  stop_cleanly (writer);
}

/* A new reader gets the beginning, and the interrupted record from its start.
 */
CUV_TEST (test_lost_connection)
{
  Fake *fake = fake_new ();
  CuvWriter *writer = writer_new (fake);
  g_autofree gchar *warning = NULL;

  push (writer, "one");
  fail_unless (cuv_writer_finish (writer, LONG_TIMEOUT));
  g_mutex_lock (&fake->lock);
  fake->lose = 1;
  g_mutex_unlock (&fake->lock);
  push (writer, "two");
  while (!cuv_writer_finish (writer, LONG_TIMEOUT)) {
  }
  fail_unless_text (fake, "|<one|<two>");
  warning = cuv_writer_take_warning (writer);
  fail_unless (strstr (warning, "gone") != NULL);
  stop_cleanly (writer);
}

static void
push_numbers (CuvWriter *writer, guint n)
{
  for (guint i = 0; i < n; i++)
    cuv_writer_push (writer, g_strdup_printf ("%06u", i), 6);
}

/* Without a reader the newest records wait, and are then written in order. */
CUV_TEST (test_overflow)
{
  Fake *fake = fake_new ();
  CuvWriter *writer;
  CuvWriterCounts counts;
  const guint n = 3000;
  g_autofree gchar *warning = NULL;

  fake->present = FALSE;
  writer = writer_new (fake);
  push_numbers (writer, n);
  cuv_writer_get_counts (writer, &counts);
  /* the thread may still hold the first record */
  fail_unless (counts.queue == CUV_WRITER_MAX_RECORDS
      || counts.queue == CUV_WRITER_MAX_RECORDS + 1);
  fail_unless_equals_int (counts.dropped + counts.queue, n);
  warning = cuv_writer_take_warning (writer);
  fail_unless (strstr (warning, "no process reads") != NULL, "%s", warning);
  fake->present = TRUE;
  fail_unless (cuv_writer_finish (writer, LONG_TIMEOUT));
  fail_unless (g_str_has_suffix (fake->text->str, ",002998,002999>"));
  fail_unless_equals_int (fake->text->len, 2 + 7 * counts.queue);
  stop (writer, 0, &counts);
  fail_unless_equals_int (counts.dropped + counts.records, n);
}

CUV_TEST (test_large_records)
{
  Fake *fake = fake_new ();
  CuvWriter *writer;
  CuvWriterCounts counts;
  const gsize size = CUV_WRITER_MAX_BYTES / 4;

  fake->present = FALSE;
  writer = writer_new (fake);
  for (guint i = 0; i < 10; i++)
    cuv_writer_push (writer, g_strnfill (size, 'x'), size);
  cuv_writer_get_counts (writer, &counts);
  fail_unless (counts.queue <= 5);
  /* a record larger than the limit is written if it is alone */
  cuv_writer_push (writer, g_strnfill (CUV_WRITER_MAX_BYTES + 1, 'y'),
      CUV_WRITER_MAX_BYTES + 1);
  cuv_writer_get_counts (writer, &counts);
  fail_unless (counts.queue <= 2);
  g_free (stop (writer, 0, &counts));
  fail_unless_equals_int (counts.dropped, 11);
}

static gdouble
stop_takes (CuvWriter *writer, guint milliseconds, CuvWriterCounts *counts)
{
  gint64 start = g_get_monotonic_time ();
  g_autofree gchar *warning = stop (writer, milliseconds, counts);

  fail_unless (warning != NULL);
  return (g_get_monotonic_time () - start) / 1e6;
}

static void
wait_until_freed (void)
{
  for (guint i = 0; i < LONG_TIMEOUT / 10 && !g_atomic_int_get (&freed); i++)
    g_usleep (10000);
  fail_unless (g_atomic_int_get (&freed));
}

static void
fail_unless_stops (
    void (*spoil) (Fake *fake), guint milliseconds, gdouble seconds)
{
  Fake *fake = fake_new ();
  CuvWriterCounts counts;
  CuvWriter *writer;

  spoil (fake);
  writer = writer_new (fake);
  push_numbers (writer, 10);
  fail_unless (stop_takes (writer, milliseconds, &counts) < seconds);
  fail_unless_equals_int (counts.dropped, 10);
  wait_until_freed ();
}

static void
remove_reader (Fake *fake)
{
  fake->present = FALSE;
}

static void
accept_nothing (Fake *fake)
{
  fake->at_most = 0;
}

static void
fail_always (Fake *fake)
{
  fake->fail = G_MAXUINT;
}

CUV_TEST (test_stop_is_bounded)
{
  fail_unless_stops (remove_reader, 300, 10);
  fail_unless_stops (accept_nothing, 300, 10);
  fail_unless_stops (fail_always, 100000, 50); /* stop() does not wait for it */
}

/* A hanging write is detached, and frees the writer when it returns. */
CUV_TEST (test_hanging_write)
{
  Fake *fake = fake_new ();
  CuvWriter *writer;
  CuvWriterCounts counts;

  fake->hangs = TRUE;
  writer = writer_new (fake);
  push_numbers (writer, 10);
  g_usleep (100000);
  fail_unless (stop_takes (writer, 100, &counts) < 3);
  fail_unless_equals_int (counts.dropped, 10);
  fail_if (g_atomic_int_get (&freed));
  g_atomic_int_set (&fake->hangs, FALSE);
  wait_until_freed ();
}

/* Records can still be written after the framing could not be completed. */
CUV_TEST (test_late_record)
{
  Fake *fake = fake_new ();
  CuvWriter *writer = writer_new (fake);
  CuvWriterCounts counts;

  push (writer, "one");
  fail_unless (cuv_writer_finish (writer, LONG_TIMEOUT));
  g_mutex_lock (&fake->lock);
  fake->at_most = 0;
  g_mutex_unlock (&fake->lock);
  push (writer, "two");
  fail_if (cuv_writer_finish (writer, 100));
  cuv_writer_get_counts (writer, &counts);
  fail_unless_equals_int (counts.queue, 1);
  g_mutex_lock (&fake->lock);
  fake->at_most = 1000;
  g_mutex_unlock (&fake->lock);
  fail_unless (cuv_writer_finish (writer, LONG_TIMEOUT));
  fail_unless_text (fake, "|<one,two>");
  fail_unless_equals_int (fake->n_retracts, 1);
  stop_cleanly (writer);
}

static gchar *last_text;

static void
keep_text_and_free (CuvTarget *target)
{
  last_text = g_strdup (((Fake *) target)->text->str);
  fake_free (target);
}

/* Returns a writer whose target has room for this text, which is kept as
 * last_text. */
static CuvWriter *
writer_with_room (const gchar *text)
{
  static CuvTargetClass klass;
  Fake *fake = fake_new ();

  klass = fake_class;
  klass.free = keep_text_and_free;
  fake->target.klass = &klass;
  fake->room = strlen (text);
  return writer_new (fake);
}

/* A record that does not fit is retracted and replaced by the end. */
CUV_TEST (test_full_target)
{
  CuvWriter *writer = writer_with_room ("<one,tw");
  CuvWriterCounts counts;

  push (writer, "one");
  push (writer, "two");
  push (writer, "three");
  fail_if (cuv_writer_finish (writer, LONG_TIMEOUT));
  fail_unless (
      stop_takes (writer, LONG_TIMEOUT, &counts) < LONG_TIMEOUT / 2000.);
  fail_unless_equals_string (last_text, "|<one>");
  fail_unless_equals_int (counts.records, 1);
  fail_unless_equals_int (counts.dropped, 2);
  fail_unless_equals_int (counts.bytes, strlen ("<one>"));
  g_free (last_text);
}

/* A record that does not fit is also retracted if it comes after an end. */
CUV_TEST (test_full_target_after_end)
{
  CuvWriter *writer = writer_with_room ("<one>,");
  CuvWriterCounts counts;

  push (writer, "one");
  fail_unless (cuv_writer_finish (writer, LONG_TIMEOUT));
  push (writer, "two");
  fail_if (cuv_writer_finish (writer, LONG_TIMEOUT));
  g_free (stop (writer, LONG_TIMEOUT, &counts));
  fail_unless_equals_string (last_text, "|<one>");
  fail_unless_equals_int (counts.dropped, 1);
  g_free (last_text);
}

/* There is one warning, however long writing fails. */
CUV_TEST (test_one_warning)
{
  Fake *fake = fake_new ();
  CuvWriter *writer;
  CuvWriterCounts counts;

  fake->room = 0;
  writer = writer_new (fake);
  push (writer, "one");
  fail_if (cuv_writer_finish (writer, LONG_TIMEOUT));
  g_free (cuv_writer_take_warning (writer));
  g_usleep (11 * G_USEC_PER_SEC);
  g_mutex_lock (&fake->lock);
  fail_unless (fake->n_writes > 10);
  g_mutex_unlock (&fake->lock);
  fail_unless (cuv_writer_take_warning (writer) == NULL);
  fail_unless (stop (writer, 0, &counts) == NULL);
}

static gssize
target_write (CuvTarget *target)
{
  gchar data[3 * PIPE_BUF] = { 0 };
  gint64 start = g_get_monotonic_time ();
  gssize n = target->klass->write (target, data, sizeof data, NULL);

  fail_unless (g_get_monotonic_time () - start < 5 * G_USEC_PER_SEC);
  return n;
}

/* A full standard output in blocking mode: a write returns at once, and the
 * mode is kept. */
CUV_TEST (test_full_stdout)
{
  CuvTarget *target = cuv_target_file_new (NULL, CUV_TARGET_APPEND);
  gchar page[PIPE_BUF] = { 0 };
  int ends[2], saved = dup (STDOUT_FILENO);
  gssize n_full, n_room;

  fail_unless (pipe (ends) == 0 && saved >= 0);
  fcntl (ends[1], F_SETFL, O_NONBLOCK);
  while (write (ends[1], page, sizeof page) > 0) {
  }
  fcntl (ends[1], F_SETFL, 0);
  dup2 (ends[1], STDOUT_FILENO);
  fail_unless_equals_int (target->klass->open (target, NULL), CUV_TARGET_OPEN);
  n_full = target_write (target);
  fail_unless (read (ends[0], page, sizeof page) == sizeof page);
  n_room = target_write (target);
  dup2 (saved, STDOUT_FILENO);
  fail_unless_equals_int (n_full, 0);
  fail_unless_equals_int (n_room, PIPE_BUF);
  fail_unless_equals_int (fcntl (ends[1], F_GETFL) & O_NONBLOCK, 0);
  target->klass->free (target);
  close (saved);
  close (ends[0]);
  close (ends[1]);
}
