/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "config.h"
#include "gstcuvgroups.h"

static void
clear_group (GstCuvGroup *group)
{
  g_free (group->tag);
  g_array_unref (group->keypoints);
  g_array_unref (group->links);
  g_ptr_array_unref (group->members);
}

void
gst_cuv_groups_clear (GstCuvGroups *self)
{
  for (guint i = 0; i < self->n; i++)
    clear_group (&self->groups[i]);
  g_clear_pointer (&self->groups, g_free);
  self->n = 0;
}

#if HAVE_ANALYTICS && GST_CHECK_VERSION(1, 29, 2)
#include <gst/analytics/analytics.h>

#define MAX_DEPTH 8 /* of groups in groups, which may contain each other */

typedef struct {
  GstAnalyticsRelationMeta *meta;
  const GArray *objects;
  guint n;           /* entries of the meta */
  gboolean *grouped; /* for each entry: whether it is a member of a group */
  GArray *ids;       /* guint: keypoints of the group that is being read */
} Reader;

static gchar *
get_tag (const GstAnalyticsMtd *mtd)
{
  gchar *tag = gst_analytics_mtd_get_semantic_tag (mtd);

  if (tag != NULL && *tag == '\0')
    g_clear_pointer (&tag, g_free);
  return tag;
}

static const GstCuvObject *
find_object (const Reader *reader, guint od)
{
  for (guint i = 0; i < reader->objects->len; i++) {
    const GstCuvObject *object =
        &g_array_index (reader->objects, GstCuvObject, i);

    if (object->od == (gint) od)
      return object;
  }
  return NULL;
}

/* Whether an entry describes an object. An object that is a member of a group
 * has the relations in the other direction. */
static gboolean
describes (GstAnalyticsRelationMeta *meta, guint id, guint od)
{
  const guint from = gst_analytics_relation_meta_get_relation (meta, id, od);
  const guint to = gst_analytics_relation_meta_get_relation (meta, od, id);

  return (from
             & (GST_ANALYTICS_REL_TYPE_IS_PART_OF
                 | GST_ANALYTICS_REL_TYPE_RELATE_TO))
      || (to
          & (GST_ANALYTICS_REL_TYPE_CONTAIN
              | GST_ANALYTICS_REL_TYPE_RELATE_TO));
}

/* Returns the object that an entry, or a group that it is part of, describes.
 */
static const GstCuvObject *
find_described (const Reader *reader, guint id)
{
  for (guint depth = 0; depth < MAX_DEPTH; depth++) {
    gpointer state = NULL;
    GstAnalyticsGroupMtd outer;

    for (guint i = 0; i < reader->objects->len; i++) {
      const GstCuvObject *object =
          &g_array_index (reader->objects, GstCuvObject, i);

      if (object->od >= 0 && describes (reader->meta, id, (guint) object->od))
        return object;
    }
    if (!gst_analytics_relation_meta_get_direct_related (reader->meta, id,
            GST_ANALYTICS_REL_TYPE_IS_PART_OF,
            gst_analytics_group_mtd_get_mtd_type (), &state, &outer))
      return NULL;
    id = outer.id;
  }
  return NULL;
}

static void
add_keypoint (Reader *reader, GstCuvGroup *group, GstAnalyticsKeypointMtd *mtd)
{
  GstAnalyticsKeypointDimensions dimensions =
      GST_ANALYTICS_KEYPOINT_DIMENSIONS_2D;
  GstCuvKeypoint keypoint = { .name = get_tag (mtd) };
  guint8 flags = 0;

  gst_analytics_keypoint_mtd_get_position (
      mtd, &keypoint.x, &keypoint.y, &keypoint.z, &dimensions);
  gst_analytics_keypoint_mtd_get_confidence (mtd, &keypoint.confidence);
  gst_analytics_keypoint_mtd_get_visibility_flags (mtd, &flags);
  keypoint.has_z = dimensions == GST_ANALYTICS_KEYPOINT_DIMENSIONS_3D;
  keypoint.visible = (flags & GST_ANALYTICS_KEYPOINT_VISIBILITY_VISIBLE) != 0;
  keypoint.occluded = (flags & GST_ANALYTICS_KEYPOINT_VISIBILITY_OCCLUDED) != 0;
  keypoint.projected =
      (flags & GST_ANALYTICS_KEYPOINT_VISIBILITY_PROJECTED) != 0;
  g_array_append_val (group->keypoints, keypoint);
  g_array_append_val (reader->ids, mtd->id);
}

static void
add_member (Reader *reader, GstCuvGroup *group, GstAnalyticsMtd *member)
{
  const GstAnalyticsMtdType type = gst_analytics_mtd_get_mtd_type (member);
  const GstCuvObject *object;

  reader->grouped[member->id] = TRUE;
  if (type == gst_analytics_keypoint_mtd_get_mtd_type ()) {
    add_keypoint (reader, group, member);
  } else if (type == gst_analytics_od_mtd_get_mtd_type ()) {
    object = find_object (reader, member->id);
    if (object != NULL)
      g_ptr_array_add (group->members, (gpointer) object);
  }
}

/* Links have no direction: writers relate the keypoints in one or in both. */
static void
add_links (const Reader *reader, GstCuvGroup *group)
{
  GstAnalyticsRelationMeta *meta = reader->meta;
  const guint *ids = (const guint *) reader->ids->data;
  GstCuvLink link;

  for (link.from = 0; link.from < reader->ids->len; link.from++) {
    for (link.to = link.from + 1; link.to < reader->ids->len; link.to++) {
      if ((gst_analytics_relation_meta_get_relation (
               meta, ids[link.from], ids[link.to])
              | gst_analytics_relation_meta_get_relation (
                  meta, ids[link.to], ids[link.from]))
          & GST_ANALYTICS_REL_TYPE_RELATE_TO)
        g_array_append_val (group->links, link);
    }
  }
}

static void
clear_keypoint (gpointer keypoint)
{
  g_free (((GstCuvKeypoint *) keypoint)->name);
}

static GstCuvGroup
group_new (void)
{
  GstCuvGroup group = {
    .keypoints = g_array_new (FALSE, FALSE, sizeof (GstCuvKeypoint)),
    .links = g_array_new (FALSE, FALSE, sizeof (GstCuvLink)),
    .members = g_ptr_array_new (),
  };

  g_array_set_clear_func (group.keypoints, clear_keypoint);
  return group;
}

static void
read_group (Reader *reader, GstAnalyticsGroupMtd *mtd, GArray *groups)
{
  GstCuvGroup group = group_new ();
  gpointer state = NULL;
  GstAnalyticsMtd member;

  g_array_set_size (reader->ids, 0);
  while (gst_analytics_group_mtd_iterate (
      mtd, &state, GST_ANALYTICS_MTD_TYPE_ANY, &member)) {
    if (member.id < reader->n) /* GStreamer accepts ids that do not exist */
      add_member (reader, &group, &member);
  }
  add_links (reader, &group);
  group.tag = get_tag (mtd);
  group.object = find_described (reader, mtd->id);
  if (group.object == NULL && reader->ids->len > 0)
    group.object =
        find_described (reader, g_array_index (reader->ids, guint, 0));
  g_array_append_val (groups, group);
}

static void
read_keypoint (Reader *reader, GstAnalyticsKeypointMtd *mtd, GArray *groups)
{
  GstCuvGroup group = group_new ();

  add_keypoint (reader, &group, mtd);
  group.object = find_described (reader, mtd->id);
  g_array_append_val (groups, group);
}

static gboolean
has_any (GstAnalyticsRelationMeta *meta, GstAnalyticsMtdType type)
{
  gpointer state = NULL;
  GstAnalyticsMtd mtd;

  return gst_analytics_relation_meta_iterate (meta, &state, type, &mtd);
}

gboolean
gst_cuv_groups_any (GstBuffer *buffer)
{
  GstAnalyticsRelationMeta *meta =
      gst_buffer_get_analytics_relation_meta (buffer);

  return meta != NULL
      && (has_any (meta, gst_analytics_group_mtd_get_mtd_type ())
          || has_any (meta, gst_analytics_keypoint_mtd_get_mtd_type ()));
}

static void
read_all (Reader *reader, GArray *groups)
{
  gpointer state = NULL;
  GstAnalyticsMtd mtd;

  while (gst_analytics_relation_meta_iterate (
      reader->meta, &state, gst_analytics_group_mtd_get_mtd_type (), &mtd))
    read_group (reader, &mtd, groups);
  state = NULL;
  while (gst_analytics_relation_meta_iterate (
      reader->meta, &state, gst_analytics_keypoint_mtd_get_mtd_type (), &mtd)) {
    if (!reader->grouped[mtd.id])
      read_keypoint (reader, &mtd, groups);
  }
}

void
gst_cuv_groups_read (
    GstCuvGroups *self, const GArray *objects, GstBuffer *buffer)
{
  Reader reader = { .objects = objects,
    .meta = gst_buffer_get_analytics_relation_meta (buffer) };
  GArray *groups;

  *self = (GstCuvGroups){ .relations = reader.meta };
  if (!gst_cuv_groups_any (buffer))
    return;
  reader.n = (guint) gst_analytics_relation_get_length (reader.meta);
  reader.grouped = g_new0 (gboolean, reader.n);
  reader.ids = g_array_new (FALSE, FALSE, sizeof (guint));
  groups = g_array_new (FALSE, FALSE, sizeof (GstCuvGroup));
  read_all (&reader, groups);
  self->n = groups->len;
  self->groups = (GstCuvGroup *) g_array_free (groups, FALSE);
  g_array_unref (reader.ids);
  g_free (reader.grouped);
}

gchar *
gst_cuv_groups_object_tag (const GstCuvGroups *self, const GstCuvObject *object)
{
  const GstAnalyticsMtd od = { .id = (guint) object->od,
    .meta = self->relations };

  return od.meta != NULL && object->od >= 0 ? get_tag (&od) : NULL;
}
#else
gboolean
gst_cuv_groups_any (GstBuffer *buffer)
{
  return FALSE;
}

void
gst_cuv_groups_read (
    GstCuvGroups *self, const GArray *objects, GstBuffer *buffer)
{
  *self = (GstCuvGroups){ NULL };
}

gchar *
gst_cuv_groups_object_tag (const GstCuvGroups *self, const GstCuvObject *object)
{
  return NULL;
}
#endif
