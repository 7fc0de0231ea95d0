/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The metadata of one frame as one record of JSON or CSV.
 *
 *   record.c      a frame as JSON: objects, tables
 *   groups.c      groups and keypoints
 *   csv.c         the same as rows of CSV
 *   json.c        builds JSON text
 *   json-value.c  GValue and JsonNode as JSON
 *
 * Elements that send results call cuv_record_to_json() or cuv_record_to_csv();
 * so do the signals for other languages. */
#ifndef CUV_RECORD_H
#define CUV_RECORD_H

#include <gst/video/video.h>
#include "gstcuvgroups.h"
#include "record/json.h"

G_BEGIN_DECLS

/* The frame's own data in a record. */
typedef struct {
  guint64 number;
  GstClockTime stream_time; /* GST_CLOCK_TIME_NONE: unknown */
  gint64 wallclock;      /* microseconds since 1970, UTC; -1: the buffer is not
                          * from a stream, and has no number either */
  gint width, height;    /* 0: unknown */
  const gchar *source;   /* or NULL */
  JsonNode *tags;        /* an object, or NULL */
  const GArray *objects; /* GstCuvObject */
  gint64 captured; /* time by the camera's clock, as wallclock; 0: unknown */
} CuvRecordFrame;

/* Returns the time in a GstReferenceTimestampMeta of NTP or Unix time, 0 if
 * there is none. */
gint64 cuv_record_captured (GstBuffer *buffer);

/* An object and the fields of its detection: a parameter, or those of the
 * object's ODMtd. Pointers belong to the buffer. */
typedef struct {
  const GstCuvObject *object;
  const GList *params;           /* the object's parameters */
  const gchar *label;            /* or NULL */
  gboolean detected;             /* FALSE: all following fields are NULL */
  const GstStructure *detection; /* the parameter, or NULL */
  const GValue *x_min, *x_max, *y_min, *y_max; /* all are set, or none */
  const GValue *confidence, *label_id;
  GValue own[5]; /* values of an ODMtd, to which the above point */
} CuvRecordObject;

void cuv_record_read_object (CuvRecordObject *self, const GstCuvObject *object,
    const CuvRecordFrame *frame);

/* Adds extra_params, the object's other parameters, groups and semantic tag to
 * the open object. */
void cuv_record_object_extras (
    CuvJson *json, const CuvRecordObject *object, const GstCuvGroups *groups);

/* Writes all objects as an array. */
void cuv_record_objects (
    CuvJson *json, const CuvRecordFrame *frame, GstBuffer *buffer);

/* Writes a group as an object. */
void cuv_record_group (CuvJson *json, const GstCuvGroup *group);

/* Adds the groups that describe the object, or if it is NULL those that
 * describe none, to the open object. */
void cuv_record_groups_of (
    CuvJson *json, const GstCuvGroups *groups, const GstCuvObject *object);

/* Writes one cell of a table. */
void cuv_record_cell (
    CuvJson *json, const GstCuvTable *table, guint row, guint column);

/* Writes one row of a table as an object. */
void cuv_record_row (CuvJson *json, const GstCuvTable *table, guint row);

/* Writes the time, in microseconds, as RFC 3339 text in UTC into buffer, which
 * has CUV_RECORD_TIME_SIZE bytes. Returns buffer, or NULL if the time is out of
 * range. */
#define CUV_RECORD_TIME_SIZE 40
const gchar *cuv_record_time (gchar *buffer, gint64 wallclock);

/* Whether there is an object, a group, or a table that is not empty. */
gboolean cuv_record_has_results (
    const CuvRecordFrame *frame, GstBuffer *buffer);

/* Write the record as one JSON object, or as rows of CSV, each with its line
 * end. */
void cuv_record_to_json (
    CuvJson *json, const CuvRecordFrame *frame, GstBuffer *buffer);
/* Writes the record as JSON, in which "<key>_info" of a table that is drawn
 * also has its shape. */
void cuv_record_to_json_with_shapes (
    CuvJson *json, const CuvRecordFrame *frame, GstBuffer *buffer);
void cuv_record_to_csv (
    GString *text, const CuvRecordFrame *frame, GstBuffer *buffer);

/* The line of column names, with its line end. */
extern const gchar cuv_record_csv_header[];

G_END_DECLS

#endif
