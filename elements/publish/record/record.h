/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What one frame's metadata says, as one record. */
#ifndef CUV_RECORD_H
#define CUV_RECORD_H

#include <gst/video/video.h>
#include "gstcuvmeta.h"
#include "record/json.h"

G_BEGIN_DECLS

/* What a record says about the frame beside its metadata. */
typedef struct {
  guint64 number;
  GstClockTime stream_time; /* GST_CLOCK_TIME_NONE: not known */
  gint64 wallclock;         /* microseconds since 1970, UTC */
  gint width, height;       /* 0: not known */
  const gchar *source;      /* or NULL */
  JsonNode *tags;           /* an object, or NULL */
} CuvRecordFrame;

/* A region of interest, read. What points into it belongs to the buffer. */
typedef struct {
  const GstVideoRegionOfInterestMeta *roi;
  const gchar *label;            /* or NULL */
  gint id;                       /* of tracking, 0 = none */
  const GstStructure *detection; /* or NULL, and then the rest is too */
  const GValue *x_min, *x_max, *y_min, *y_max; /* all or none */
  const GValue *confidence, *label_id;
} CuvRecordObject;

void cuv_record_read_object (
    CuvRecordObject *object, const GstVideoRegionOfInterestMeta *roi);

/* The id of the region that this one lies in, -1 if it lies in none. */
gint cuv_record_parent_id (const CuvRecordObject *object);

/* Writes, as members of the open object, what only this object has:
 * extra_params and the other structures on the region. */
void cuv_record_object_extras (CuvJson *json, const CuvRecordObject *object);

/* One row of a table as an object. */
void cuv_record_row (CuvJson *json, const GstCuvTable *table, guint row);

/* RFC 3339, UTC, microseconds. buffer has CUV_RECORD_TIME_SIZE bytes. */
#define CUV_RECORD_TIME_SIZE 40
const gchar *cuv_record_time (gchar *buffer, gint64 wallclock);

/* Whether the buffer has an object, or a table with something in it. */
gboolean cuv_record_has_results (GstBuffer *buffer);

/* The record as one JSON object, or as rows of CSV, each with its line end. */
void cuv_record_to_json (
    CuvJson *json, const CuvRecordFrame *frame, GstBuffer *buffer);
void cuv_record_to_csv (
    GString *text, const CuvRecordFrame *frame, GstBuffer *buffer);

/* The line of column names, with its line end. */
extern const gchar cuv_record_csv_header[];

G_END_DECLS

#endif
