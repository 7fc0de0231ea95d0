/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The messages of a spool: push, read, pop. */
#include "config.h"
#include "output/spool-private.h"

#include <errno.h>
#include <string.h>
#include <zlib.h>

/* Precedes each message in the ring. */
typedef struct {
  guint32 size, crc; /* size and checksum of what follows */
  guint32 topic_size, key_size;
} Prefix;

void
cuv_message_clear (CuvMessage *self)
{
  g_free ((gchar *) self->topic);
  *self = (CuvMessage){ 0 };
}

static gsize
payload_bytes (const CuvMessage *self)
{
  return strlen (self->topic) + 1 + strlen (self->key) + 1 + self->size;
}

gsize
cuv_message_bytes (const CuvMessage *self)
{
  return sizeof (Prefix) + payload_bytes (self);
}

gboolean
cuv_spool_is_file (const CuvSpool *self)
{
  return self->path != NULL;
}

guint64
cuv_spool_first (const CuvSpool *self)
{
  return self->header.first;
}

guint64
cuv_spool_end (const CuvSpool *self)
{
  return self->header.end;
}

gboolean
cuv_spool_can_hold (const CuvSpool *self, gsize bytes)
{
  return bytes <= self->header.size && bytes <= G_MAXINT32;
}

gboolean
cuv_spool_has_room (const CuvSpool *self, gsize bytes)
{
  const CuvSpoolHeader *header = &self->header;

  return cuv_spool_can_hold (self, bytes)
      && header->end - header->first < self->max_records
      && bytes <= header->size - (header->tail - header->head);
}

static gchar *
copy_payload (const CuvMessage *message, Prefix *prefix)
{
  gsize topic = strlen (message->topic) + 1, key = strlen (message->key) + 1;
  gchar *payload = g_malloc (topic + key + message->size);

  memcpy (payload, message->topic, topic);
  memcpy (payload + topic, message->key, key);
  memcpy (payload + topic + key, message->text, message->size);
  prefix->topic_size = (guint32) topic;
  prefix->key_size = (guint32) key;
  prefix->size = (guint32) (topic + key + message->size);
  prefix->crc =
      (guint32) crc32 (0, (const Bytef *) payload, (uInt) prefix->size);
  return payload;
}

gboolean
cuv_spool_push (CuvSpool *self, const CuvMessage *message, GError **error)
{
  CuvSpoolHeader before = self->header;
  Prefix prefix;
  gchar *payload = copy_payload (message, &prefix);
  guint64 tail = self->header.tail;
  gboolean ok = cuv_spool_write_ring (self, tail, &prefix, sizeof prefix, error)
      && cuv_spool_write_ring (
          self, tail + sizeof prefix, payload, prefix.size, error);

  g_free (payload);
  if (!ok)
    return FALSE;
  self->header.tail += sizeof prefix + prefix.size;
  self->header.end++;
  if (cuv_spool_write_header (self, error))
    return TRUE;
  self->header = before;
  return FALSE;
}

/* Reads the prefix of the message at a position, and checks its sizes. */
static gboolean
read_prefix (CuvSpool *self, guint64 position, Prefix *prefix, GError **error)
{
  guint64 left = self->header.tail - position;

  if (left < sizeof *prefix)
    memset (prefix, 0, sizeof *prefix);
  else if (!cuv_spool_read_ring (self, position, prefix, sizeof *prefix, error))
    return FALSE;
  if (prefix->topic_size > 0 && prefix->key_size > 0
      && prefix->size <= left - sizeof *prefix
      && (guint64) prefix->topic_size + prefix->key_size <= prefix->size)
    return TRUE;
  g_set_error (
      error, G_IO_ERROR, G_IO_ERROR_INVALID_DATA, "the spool is damaged");
  return FALSE;
}

static gboolean
parse_payload (
    gchar *payload, const Prefix *prefix, CuvMessage *message, GError **error)
{
  guint32 text = prefix->topic_size + prefix->key_size;

  if (prefix->crc != crc32 (0, (const Bytef *) payload, (uInt) prefix->size)
      || payload[prefix->topic_size - 1] != '\0' || payload[text - 1] != '\0') {
    g_set_error (
        error, G_IO_ERROR, G_IO_ERROR_INVALID_DATA, "the spool is damaged");
    return FALSE;
  }
  message->topic = payload;
  message->key = payload + prefix->topic_size;
  message->text = payload + text;
  message->size = prefix->size - text;
  return TRUE;
}

static gboolean
read_message (CuvSpool *self, guint64 position, Prefix *prefix,
    CuvMessage *message, GError **error)
{
  gchar *payload;

  if (!read_prefix (self, position, prefix, error))
    return FALSE;
  payload = g_malloc (prefix->size);
  if (cuv_spool_read_ring (
          self, position + sizeof *prefix, payload, prefix->size, error)
      && parse_payload (payload, prefix, message, error))
    return TRUE;
  g_free (payload);
  return FALSE;
}

/* Moves the reader to a message. To move backwards, it starts over from the
 * first message. */
static gboolean
seek (CuvSpool *self, guint64 number, GError **error)
{
  Prefix prefix;

  if (number < self->read_number || self->read_number < self->header.first) {
    self->read_number = self->header.first;
    self->read_position = self->header.head;
  }
  while (self->read_number < number) {
    if (!read_prefix (self, self->read_position, &prefix, error))
      return FALSE;
    self->read_position += sizeof prefix + prefix.size;
    self->read_number++;
  }
  return TRUE;
}

gboolean
cuv_spool_read (
    CuvSpool *self, guint64 number, CuvMessage *message, GError **error)
{
  Prefix prefix;

  if (!seek (self, number, error)
      || !read_message (self, self->read_position, &prefix, message, error))
    return FALSE;
  self->read_position += sizeof prefix + prefix.size;
  self->read_number = number + 1;
  return TRUE;
}

/* Restarts an empty ring at its start, so that it uses no more memory, or
 * blocks of the file, than needed. */
static void
rewind_if_empty (CuvSpool *self)
{
  CuvSpoolHeader *header = &self->header;

  if (header->first == header->end) {
    header->head = header->tail = 0;
    self->read_number = header->first;
    self->read_position = 0;
  }
}

/* In a damaged file the position of the next message is unknown, so all
 * messages are removed. */
void
cuv_spool_pop (CuvSpool *self)
{
  CuvSpoolHeader *header = &self->header;
  Prefix prefix;

  if (read_prefix (self, header->head, &prefix, NULL)) {
    header->head += sizeof prefix + prefix.size;
    header->first++;
  } else {
    header->first = header->end;
  }
  rewind_if_empty (self);
  if (!cuv_spool_write_header (self, NULL))
    g_warning ("Cannot write to the spool '%s': %s. Messages that were already "
               "sent will be sent again after the next start.",
        self->path, g_strerror (errno));
}
