/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "teach/texts.h"

#include "controls/texts.h"
#include "teach/folder.h"

static void
add_int (CuvJson *json, const gchar *name, gint64 value)
{
  cuv_json_key (json, name);
  cuv_json_int (json, value);
}

static void
add_boolean (CuvJson *json, const gchar *name, gboolean value)
{
  cuv_json_key (json, name);
  cuv_json_boolean (json, value);
}

static void
add_double (CuvJson *json, const gchar *name, gdouble value)
{
  cuv_json_key (json, name);
  cuv_json_double (json, value);
}

static void
add_label_count (CuvJson *json, const CuvTeachCount *count, gint folder)
{
  gchar *model = g_strconcat (count->label, ".xml", NULL);

  cuv_json_next (json);
  cuv_json_begin_object (json);
  cuv_json_string_member (json, "label", count->label);
  add_int (json, "pictures", count->pictures);
  add_int (json, "boxes", count->boxes);
  add_boolean (json, "model", cuv_folder_size (folder, model) > 0);
  cuv_json_end_object (json);
  g_free (model);
}

gchar *
cuv_teach_text_state (const CuvTeachDataset *dataset, gint folder,
    const gchar *detector, const gchar *report)
{
  guint counterexamples;
  GArray *counts =
      cuv_coco_count (cuv_teach_dataset_coco (dataset), &counterexamples);
  CuvJson json;

  cuv_control_text_begin (&json, "teach");
  cuv_json_string_member (&json, "detector", detector);
  cuv_json_key (&json, "labels");
  cuv_json_begin_array (&json);
  for (guint i = 0; i < counts->len; i++)
    add_label_count (&json, &g_array_index (counts, CuvTeachCount, i), folder);
  cuv_json_end_array (&json);
  add_int (&json, "counterexamples", counterexamples);
  cuv_json_string_member (&json, "report", report);
  g_array_unref (counts);
  return cuv_control_text_end (&json);
}

static void
add_result (CuvJson *json, const CuvTraining *training)
{
  add_double (json, "recall", training->recall);
  add_double (json, "false_positives", training->false_positives);
  add_int (json, "objects", training->objects);
}

gchar *
cuv_teach_text_training (const CuvTraining *training)
{
  static const gchar *const states[] = { NULL, "running", "done", "failed",
    "stopped" };
  const CuvTrainingState state = training->state;
  CuvJson json;

  if (state == CUV_TRAINING_NONE)
    return NULL;
  cuv_control_text_begin (&json, "training");
  cuv_json_string_member (&json, "label", training->label);
  cuv_json_string_member (&json, "state", states[state]);
  if (state == CUV_TRAINING_RUNNING)
    cuv_json_string_member (&json, "text", training->text);
  if (state == CUV_TRAINING_FAILED)
    cuv_json_string_member (&json, "reason", training->text);
  if (state == CUV_TRAINING_RUNNING || state == CUV_TRAINING_DONE)
    add_int (&json, "seconds",
        state == CUV_TRAINING_DONE
            ? training->seconds
            : (g_get_monotonic_time () - training->start) / G_USEC_PER_SEC);
  if (state == CUV_TRAINING_DONE)
    add_result (&json, training);
  return cuv_control_text_end (&json);
}

gchar *
cuv_teach_text_done (gint64 id, gint64 value)
{
  CuvJson json;

  cuv_control_text_begin (&json, "done");
  add_int (&json, "id", id);
  if (value >= 0)
    add_int (&json, "value", value);
  return cuv_control_text_end (&json);
}
