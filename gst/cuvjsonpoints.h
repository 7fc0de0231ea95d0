/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Polygons and lines of a frame as JSON: points [[x, y], ...] in units of the
 * frame's width and height or in pixels. Functions that return a text return
 * NULL, or the problem, to be freed: the cause and what is expected. */
#ifndef CUV_JSON_POINTS_H
#define CUV_JSON_POINTS_H

#include <json-glib/json-glib.h>

G_BEGIN_DECLS

#define CUV_JSON_MAX_POINTS 256 /* of a polygon */
#define CUV_JSON_POINT_SCALE 16 /* points are placed in 1/16 pixel */

typedef struct {
  gdouble x, y;
} CuvJsonPoint;

/* Returns a number, or NAN for any other value. */
gdouble cuv_json_number (JsonNode *node);

/* Reads the member "units" of an object, which is optional. */
gchar *cuv_json_read_units (JsonObject *object, gboolean *normalized);

/* Append the points, CuvJsonPoint, of a polygon or a line. */
gchar *cuv_json_read_polygon (
    JsonNode *node, gboolean normalized, GArray *points);
gchar *cuv_json_read_line (JsonNode *node, gboolean normalized, GArray *points);

/* Returns a coordinate in 1/16 pixel of a frame; length: its width or height.
 */
gint32 cuv_json_place (gdouble value, gboolean normalized, gint length);

G_END_DECLS

#endif
