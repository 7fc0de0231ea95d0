/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Any text is a request, whose value fits the property of its control, or whose
 * example fits the frame, or refused with a reason; a file of settings; and
 * annotations that can be written and read again, or refused. */
#include <gst/gst.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include "controls/message.h"
#include "controls/settings-format.h"
#include "controls/value.h"
#include "teach/coco.h"

int LLVMFuzzerInitialize (int *argc, char ***argv);
int LLVMFuzzerTestOneInput (const uint8_t *data, size_t size);

static GParamSpec *specs[10];

int
LLVMFuzzerInitialize (int *argc, char ***argv)
{
  guint n = 0;

#define SPEC(type, ...)                                                        \
  specs[n++] =                                                                 \
      g_param_spec_##type ("name", NULL, NULL, __VA_ARGS__, G_PARAM_READWRITE)
  SPEC (int, -5, 5, 0);
  SPEC (uint, 0, G_MAXUINT, 0);
  SPEC (int64, G_MININT64, G_MAXINT64, 0);
  SPEC (uint64, 3, G_MAXUINT64, 3);
  SPEC (float, 0.1F, 0.7F, 0.3F);
  SPEC (double, -G_MAXDOUBLE, G_MAXDOUBLE, 0);
  SPEC (boolean, FALSE);
  SPEC (string, NULL);
  SPEC (enum, GST_TYPE_FORMAT, GST_FORMAT_TIME);
  SPEC (flags, GST_TYPE_SEEK_FLAGS, GST_SEEK_FLAG_FLUSH);
  return 0;
}

/* What was accepted is in range, and can be written. */
static void
check_value (GParamSpec *spec, GValue *value)
{
  CuvJson json;
  gsize size;

  if (g_param_value_validate (spec, value)
      || (G_VALUE_HOLDS_STRING (value)
          && !g_utf8_validate (g_value_get_string (value), -1, NULL)))
    abort ();
  cuv_json_init (&json);
  cuv_control_value_write (&json, value);
  g_free (cuv_json_steal (&json, &size));
  cuv_json_clear (&json);
  if (size == 0)
    abort ();
  g_value_unset (value);
}

static void
check_spec (GParamSpec *spec, JsonNode *node)
{
  GValue value = G_VALUE_INIT;
  gchar *problem = cuv_control_value_parse (spec, node, &value);

  if ((problem == NULL) != G_IS_VALUE (&value)
      || (problem != NULL && *problem == '\0'))
    abort ();
  if (problem == NULL)
    check_value (spec, &value);
  g_free (problem);
}

static void
check_node (JsonNode *node)
{
  for (guint i = 0; i < G_N_ELEMENTS (specs); i++)
    check_spec (specs[i], node);
}

static void
check_example (JsonNode *node)
{
  CuvTeachExample example;
  gchar *problem = cuv_teach_example_parse (&example, node);
  const gboolean parsed = problem == NULL;

  if (parsed)
    problem = cuv_teach_example_clip (&example, 640, 480);
  if (problem != NULL && *problem == '\0')
    abort ();
  for (guint i = 0; problem == NULL && i < example.n_boxes; i++) {
    const CuvTeachBox *box = &example.boxes[i];

    if (!(box->x >= 0 && box->y >= 0 && box->width >= 2 && box->height >= 2
            && box->x + box->width <= 640 && box->y + box->height <= 480))
      abort ();
  }
  g_free (problem);
}

static void
check_message (const CuvControlMessage *message)
{
  const gboolean has_value =
      message->action == CUV_CONTROL_SET || message->action == CUV_CONTROL_CALL;

  if (message->action == CUV_CONTROL_KEEP)
    check_example (message->value);
  if (message->id < 1 || (message->control != NULL && !has_value)
      || (has_value && (message->control == NULL || message->value == NULL)))
    abort ();
  if (has_value)
    check_node (message->value);
}

static void
check_settings (const uint8_t *data, size_t size)
{
  gchar *text = g_strndup ((const gchar *) data, size), *problem;
  JsonObject *values = cuv_control_settings_parse (text, size, &problem);
  GList *nodes = values != NULL ? json_object_get_values (values) : NULL;

  if ((problem == NULL) != (values != NULL)
      || (problem != NULL && *problem == '\0'))
    abort ();
  for (const GList *at = nodes; at != NULL; at = at->next)
    check_node (at->data);
  g_list_free (nodes);
  g_clear_pointer (&values, json_object_unref);
  g_free (problem);
  g_free (text);
}

static void
check_annotations (const gchar *text)
{
  const CuvTeachBox box = { 1, 2, 3.25, 4 };
  CuvCoco coco;
  gchar *problem = cuv_coco_parse (&coco, text);
  guint without;

  if (problem == NULL && cuv_coco_has_room (&coco, 1)) {
    const gint64 id = cuv_coco_add_image (&coco, "images/a-000001.jpg", 9, 9);
    gchar *written;

    cuv_coco_add_box (&coco, id, "a", &box);
    g_array_unref (cuv_coco_count (&coco, &without));
    written = cuv_coco_write (&coco);
    cuv_coco_clear (&coco);
    problem = cuv_coco_parse (&coco, written);
    if (problem != NULL)
      abort ();
    g_free (written);
  } else if (problem != NULL && *problem == '\0')
    abort ();
  g_free (problem);
  cuv_coco_clear (&coco);
}

int
LLVMFuzzerTestOneInput (const uint8_t *data, size_t size)
{
  CuvControlMessage message;
  gchar *text = g_strndup ((const gchar *) data, size);
  gchar *problem =
      cuv_control_message_parse (&message, (const gchar *) data, size);

  check_annotations (text);
  g_free (text);
  if (problem != NULL && *problem == '\0')
    abort ();
  if (problem == NULL)
    check_message (&message);
  g_free (problem);
  cuv_control_message_clear (&message);
  check_settings (data, size);
  return 0;
}
