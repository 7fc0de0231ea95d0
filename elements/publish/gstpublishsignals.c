/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "config.h"
#include "gstpublishsignals.h"

#include "record/record.h"

/* ---- records ---- */

static gchar *
steal_text (CuvJson *json)
{
  gsize size;
  gchar *text = cuv_json_steal (json, &size);

  cuv_json_clear (json);
  return text;
}

typedef void (*Append) (
    CuvJson *json, const CuvRecordFrame *frame, GstBuffer *buffer);

/* Applies append to the buffer's results. The size of the frame is unknown if
 * caps is NULL or has no size. */
static gchar *
read_with (Append append, GstBuffer *buffer, const GstCaps *caps)
{
  CuvRecordFrame frame = { 0, GST_CLOCK_TIME_NONE, -1, 0, 0, NULL, NULL, NULL,
    0 };
  const GstStructure *size = caps != NULL && gst_caps_get_size (caps) > 0
      ? gst_caps_get_structure (caps, 0)
      : NULL;
  GArray *objects;
  CuvJson json;

  if (buffer == NULL)
    return NULL;
  frame.stream_time = GST_BUFFER_PTS (buffer);
  frame.captured = cuv_record_captured (buffer);
  if (size == NULL || !gst_structure_get_int (size, "width", &frame.width)
      || !gst_structure_get_int (size, "height", &frame.height))
    frame.width = frame.height = 0;
  objects = g_array_new (FALSE, FALSE, sizeof (GstCuvObject));
  gst_cuv_objects_read (objects, buffer);
  frame.objects = objects;
  cuv_json_init (&json);
  append (&json, &frame, buffer);
  g_array_unref (objects);
  return steal_text (&json);
}

static gchar *
signal_read_record (GstElement *self, GstBuffer *buffer, const GstCaps *caps)
{
  return read_with (cuv_record_to_json, buffer, caps);
}

static gchar *
signal_read_objects (GstElement *self, GstBuffer *buffer, const GstCaps *caps)
{
  return read_with (cuv_record_objects, buffer, caps);
}

/* ---- structures ---- */

static GstStructure *
signal_read_table (GstElement *self, GstBuffer *buffer, guint n)
{
  gpointer state = NULL;
  GstCuvTable table;

  while (buffer != NULL && gst_cuv_meta_next_table (buffer, &state, &table)) {
    if (n-- == 0)
      return gst_structure_copy (table.structure);
  }
  return NULL;
}

static gchar *
signal_read_structure (GstElement *self, const GstStructure *structure)
{
  CuvJson json;

  if (structure == NULL)
    return NULL;
  cuv_json_init (&json);
  cuv_json_begin_object (&json);
  cuv_json_fields (&json, structure);
  cuv_json_end_object (&json);
  return steal_text (&json);
}

/* ---- installing ---- */

static void
install (const gchar *name, GType type, GCallback handler, GType result,
    GType argument, GType second)
{
  g_signal_new_class_handler (name, type, G_SIGNAL_RUN_LAST | G_SIGNAL_ACTION,
      handler, NULL, NULL, NULL, result, second != G_TYPE_NONE ? 2 : 1,
      argument, second);
}

void
gst_publish_install_signals (GType type)
{
  /**
   * GstVisionPublish::read-record:
   * @publish: the element, in any state
   * @buffer: a buffer
   * @caps: (nullable): its caps, for the size of the frame
   *
   * Reads the results that a buffer carries. Like the other signals that read,
   * it works in any state and from any thread, and is independent of the frames
   * that pass the element.
   *
   * Returns: the record of the buffer, as JSON, without frame_num and
   *     wallclock; timestamp is the buffer's PTS
   *
   * Since: 0.1
   */
  install ("read-record", type, G_CALLBACK (signal_read_record), G_TYPE_STRING,
      GST_TYPE_BUFFER, GST_TYPE_CAPS);
  /**
   * GstVisionPublish::read-objects:
   * @publish: the element, in any state
   * @buffer: a buffer
   * @caps: (nullable): its caps, for the size of the frame
   *
   * Returns: the objects of the buffer's record, a JSON array
   *
   * Since: 0.1
   */
  install ("read-objects", type, G_CALLBACK (signal_read_objects),
      G_TYPE_STRING, GST_TYPE_BUFFER, GST_TYPE_CAPS);
  /**
   * GstVisionPublish::read-table:
   * @publish: the element, in any state
   * @buffer: a buffer
   * @n: the index of the table, from 0
   *
   * Returns: (nullable): the structure of the table, %NULL if there is none
   * with this index
   *
   * Since: 0.1
   */
  install ("read-table", type, G_CALLBACK (signal_read_table),
      GST_TYPE_STRUCTURE, GST_TYPE_BUFFER, G_TYPE_UINT);
  /**
   * GstVisionPublish::read-structure:
   * @publish: the element, in any state
   * @structure: a structure, such as that of a message or of stats
   *
   * Returns: its fields as a JSON object
   *
   * Since: 0.1
   */
  install ("read-structure", type, G_CALLBACK (signal_read_structure),
      G_TYPE_STRING, GST_TYPE_STRUCTURE, G_TYPE_NONE);
  /**
   * GstVisionPublish::reopen:
   * @publish: the element, in any state
   *
   * If the file of #GstVisionPublish:file-path was renamed or removed, ends it
   * and opens a new one, in the background, as happens before each record.
   *
   * Since: 0.1
   */
  g_signal_new_class_handler ("reopen", type,
      G_SIGNAL_RUN_LAST | G_SIGNAL_ACTION,
      G_CALLBACK (gst_vision_publish_reopen), NULL, NULL, NULL, G_TYPE_NONE, 0);
}
