/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "config.h"
#include "output/retained.h"

#include <string.h>

typedef struct {
  gchar *topic, *text;
  gboolean changed;       /* the broker does not have this text */
  gint64 interval;        /* shortest time between two messages */
  gint64 sent;            /* time of the last message, 0: none */
  guint64 number;         /* in flight with this number; 0: not in flight */
  GSequenceIter *waiting; /* place in the queue, NULL: none */
  gint64 due;             /* order in the queue: by time, then by serial */
  guint64 serial;
} Entry;

struct _CuvRetained {
  GHashTable *entries; /* topic -> Entry */
  GHashTable *flight;  /* &entry->number -> Entry */
  GSequence *queue;    /* of Entry: changed, and not in flight */
  guint64 serial, number;
  GString *answered; /* topic of the last answered message */
};

static void
entry_free (gpointer data)
{
  Entry *self = data;

  g_free (self->topic);
  g_free (self->text);
  g_free (self);
}

CuvRetained *
cuv_retained_new (void)
{
  CuvRetained *self = g_new0 (CuvRetained, 1);

  self->entries =
      g_hash_table_new_full (g_str_hash, g_str_equal, NULL, entry_free);
  self->flight = g_hash_table_new (g_int64_hash, g_int64_equal);
  self->queue = g_sequence_new (NULL);
  self->answered = g_string_new (NULL);
  return self;
}

void
cuv_retained_free (CuvRetained *self)
{
  g_sequence_free (self->queue);
  g_hash_table_unref (self->flight);
  g_hash_table_unref (self->entries);
  g_string_free (self->answered, TRUE);
  g_free (self);
}

static gint
compare (gconstpointer a, gconstpointer b, gpointer data)
{
  const Entry *x = a, *y = b;

  if (x->due != y->due)
    return x->due < y->due ? -1 : 1;
  return x->serial < y->serial ? -1 : x->serial > y->serial;
}

/* Puts the entry into the queue if it is to be sent, or moves it there if it is
 * due earlier now. */
static void
enqueue (CuvRetained *self, Entry *entry, gint64 now)
{
  const gint64 due =
      entry->sent == 0 ? now : MAX (now, entry->sent + entry->interval);

  if (!entry->changed || entry->number != 0)
    return;
  if (entry->waiting != NULL) {
    if (due >= entry->due)
      return;
    g_sequence_remove (entry->waiting);
  }
  entry->due = due;
  entry->serial = self->serial++;
  entry->waiting = g_sequence_insert_sorted (self->queue, entry, compare, NULL);
}

void
cuv_retained_set (CuvRetained *self, const gchar *topic, const gchar *text,
    gint64 interval, gint64 now)
{
  Entry *entry = g_hash_table_lookup (self->entries, topic);

  if (entry == NULL) {
    entry = g_new0 (Entry, 1);
    entry->topic = g_strdup (topic);
    g_hash_table_insert (self->entries, entry->topic, entry);
  } else if (strcmp (entry->text, text) == 0) {
    return;
  }
  g_free (entry->text);
  entry->text = g_strdup (text);
  entry->interval = interval;
  entry->changed = TRUE;
  enqueue (self, entry, now);
}

/* One block, as cuv_message_clear() expects. */
static CuvMessage
copy_message (const Entry *entry)
{
  const gsize topic = strlen (entry->topic) + 1, text = strlen (entry->text);
  gchar *block = g_malloc (topic + 1 + text);

  memcpy (block, entry->topic, topic);
  block[topic] = '\0';
  memcpy (block + topic + 1, entry->text, text);
  return (CuvMessage){ block, block + topic, block + topic + 1, text };
}

gboolean
cuv_retained_take (CuvRetained *self, gint64 now, gboolean flush,
    CuvMessage *message, guint64 *number)
{
  Entry *entry;

  if (g_hash_table_size (self->flight) >= CUV_RETAINED_WINDOW
      || g_sequence_is_empty (self->queue)
      || (!flush && cuv_retained_due (self) > now))
    return FALSE;
  entry = g_sequence_get (g_sequence_get_begin_iter (self->queue));
  g_sequence_remove (entry->waiting);
  entry->waiting = NULL;
  entry->changed = FALSE;
  entry->sent = now;
  *number = entry->number = CUV_RETAINED_NUMBER | self->number++;
  g_hash_table_insert (self->flight, &entry->number, entry);
  *message = copy_message (entry);
  return TRUE;
}

const gchar *
cuv_retained_answered (
    CuvRetained *self, guint64 number, gboolean again, gint64 now)
{
  Entry *entry = g_hash_table_lookup (self->flight, &number);

  if (entry == NULL)
    return NULL;
  g_string_assign (self->answered, entry->topic);
  g_hash_table_remove (self->flight, &number);
  entry->number = 0;
  if (again) {
    entry->changed = TRUE;
    entry->sent = 0;
  }
  if (!entry->changed && *entry->text == '\0')
    g_hash_table_remove (self->entries, entry->topic);
  else
    enqueue (self, entry, now);
  return self->answered->str;
}

void
cuv_retained_renew (CuvRetained *self, gboolean lost, gint64 now)
{
  GHashTableIter iter;
  gpointer value;

  if (lost)
    g_hash_table_remove_all (self->flight);
  g_hash_table_iter_init (&iter, self->entries);
  while (g_hash_table_iter_next (&iter, NULL, &value)) {
    Entry *entry = value;

    if (lost)
      entry->number = 0;
    entry->changed = TRUE;
    entry->sent = 0;
    enqueue (self, entry, now);
  }
}

gint64
cuv_retained_due (const CuvRetained *self)
{
  GSequenceIter *first = g_sequence_get_begin_iter (self->queue);

  if (g_sequence_iter_is_end (first)
      || g_hash_table_size (self->flight) >= CUV_RETAINED_WINDOW)
    return G_MAXINT64;
  return ((const Entry *) g_sequence_get (first))->due;
}

guint
cuv_retained_n_topics (const CuvRetained *self)
{
  return g_hash_table_size (self->entries);
}

gboolean
cuv_retained_is_sent (const CuvRetained *self)
{
  return g_sequence_is_empty (self->queue)
      && g_hash_table_size (self->flight) == 0;
}
