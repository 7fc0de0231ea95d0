/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Groups, keypoints and semantic tags of GstAnalytics, which GStreamer has from
 * 1.30 on (1.29.2 of the development series). Before that nothing is found. */
#ifndef GST_CUV_GROUPS_H
#define GST_CUV_GROUPS_H

#include "gstcuvmeta.h"

G_BEGIN_DECLS

typedef struct {
  gchar *name; /* its semantic tag; NULL: none */
  gint x, y;   /* pixels */
  gint z;      /* the mean of the units of x and y, towards the viewer */
  gboolean has_z;
  gfloat confidence;
  gboolean visible, occluded, projected; /* all FALSE: unknown */
} GstCuvKeypoint;

typedef struct {
  guint from, to; /* indices of keypoints, from < to */
} GstCuvLink;

/* A group, or a keypoint without a group. */
typedef struct {
  gchar *tag;                 /* its semantic tag; NULL: none */
  const GstCuvObject *object; /* it describes this object; NULL: none */
  GArray *keypoints;          /* GstCuvKeypoint, in the order of the group */
  GArray *links;              /* GstCuvLink: the skeleton */
  GPtrArray *members;         /* const GstCuvObject * */
} GstCuvGroup;

typedef struct {
  GstCuvGroup *groups; /* n of them */
  guint n;
  gpointer relations; /* private */
} GstCuvGroups;

/* Whether the buffer has a group or a keypoint. */
CUV_API gboolean gst_cuv_groups_any (GstBuffer *buffer);

/* Reads the groups. objects are those of the buffer, and must not change while
 * groups are in use. */
CUV_API void gst_cuv_groups_read (
    GstCuvGroups *self, const GArray *objects, GstBuffer *buffer);
CUV_API void gst_cuv_groups_clear (GstCuvGroups *self);

/* Returns the semantic tag of an object, to be freed; NULL: none. */
CUV_API gchar *gst_cuv_groups_object_tag (
    const GstCuvGroups *self, const GstCuvObject *object);

G_END_DECLS

#endif
