/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Groups and their keypoints as JSON; see record.h. */
#include "config.h"
#include "record/record.h"

static void
number_member (CuvJson *json, const gchar *key, gint64 value)
{
  cuv_json_key (json, key);
  cuv_json_int (json, value);
}

static void
text_member (CuvJson *json, const gchar *key, const gchar *text)
{
  if (text == NULL)
    return;
  cuv_json_string_member (json, key, text);
}

static void
append_flag (CuvJson *json, gboolean flag, const gchar *name)
{
  if (!flag)
    return;
  cuv_json_next (json);
  cuv_json_string (json, name);
}

static void
append_visibility (CuvJson *json, const GstCuvKeypoint *keypoint)
{
  if (!keypoint->visible && !keypoint->occluded && !keypoint->projected)
    return;
  cuv_json_key (json, "visibility");
  cuv_json_begin_array (json);
  append_flag (json, keypoint->visible, "visible");
  append_flag (json, keypoint->occluded, "occluded");
  append_flag (json, keypoint->projected, "projected");
  cuv_json_end_array (json);
}

static void
append_keypoint (CuvJson *json, const GstCuvKeypoint *keypoint)
{
  cuv_json_next (json);
  cuv_json_begin_object (json);
  cuv_json_key (json, "confidence");
  cuv_json_float (json, keypoint->confidence);
  text_member (json, "name", keypoint->name);
  append_visibility (json, keypoint);
  number_member (json, "x", keypoint->x);
  number_member (json, "y", keypoint->y);
  if (keypoint->has_z)
    number_member (json, "z", keypoint->z);
  cuv_json_end_object (json);
}

static void
append_keypoints (CuvJson *json, const GArray *keypoints)
{
  if (keypoints->len == 0)
    return;
  cuv_json_key (json, "keypoints");
  cuv_json_begin_array (json);
  for (guint i = 0; i < keypoints->len; i++)
    append_keypoint (json, &g_array_index (keypoints, GstCuvKeypoint, i));
  cuv_json_end_array (json);
}

static void
append_skeleton (CuvJson *json, const GArray *links)
{
  if (links->len == 0)
    return;
  cuv_json_key (json, "skeleton");
  cuv_json_begin_array (json);
  for (guint i = 0; i < links->len; i++) {
    const GstCuvLink *link = &g_array_index (links, GstCuvLink, i);

    cuv_json_next (json);
    cuv_json_begin_array (json);
    cuv_json_next (json);
    cuv_json_uint (json, link->from);
    cuv_json_next (json);
    cuv_json_uint (json, link->to);
    cuv_json_end_array (json);
  }
  cuv_json_end_array (json);
}

static void
append_members (CuvJson *json, const GPtrArray *members)
{
  if (members->len == 0)
    return;
  cuv_json_key (json, "region_ids");
  cuv_json_begin_array (json);
  for (guint i = 0; i < members->len; i++) {
    const GstCuvObject *object = g_ptr_array_index (members, i);

    cuv_json_next (json);
    cuv_json_int (json, object->id);
  }
  cuv_json_end_array (json);
}

void
cuv_record_group (CuvJson *json, const GstCuvGroup *group)
{
  cuv_json_begin_object (json);
  append_keypoints (json, group->keypoints);
  append_members (json, group->members);
  text_member (json, "semantic_tag", group->tag);
  append_skeleton (json, group->links);
  cuv_json_end_object (json);
}

void
cuv_record_groups_of (
    CuvJson *json, const GstCuvGroups *groups, const GstCuvObject *object)
{
  gboolean open = FALSE;

  for (guint i = 0; i < groups->n; i++) {
    const GstCuvGroup *group = &groups->groups[i];

    if (group->object != object)
      continue;
    if (!open) {
      cuv_json_key (json, "groups");
      cuv_json_begin_array (json);
      open = TRUE;
    }
    cuv_json_next (json);
    cuv_record_group (json, group);
  }
  if (open)
    cuv_json_end_array (json);
}
