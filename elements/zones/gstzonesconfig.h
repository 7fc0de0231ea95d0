/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Zones as JSON, and their place in frames of a size. */
#ifndef GST_ZONES_CONFIG_H
#define GST_ZONES_CONFIG_H

#include <gst/gst.h>
#include "zones.h"

#define GST_ZONES_MAX 1024 /* zones */
#define GST_ZONES_MAX_HYSTERESIS 1000

/* Zones in the units of the JSON text. Immutable, counted references. */
typedef struct _GstZonesConfig GstZonesConfig;
#define GST_TYPE_ZONES_CONFIG (gst_zones_config_get_type ())
GType gst_zones_config_get_type (void);

/* Parse a text, or a file. Return NULL and set *problem: the cause and what is
 * expected; free it. */
GstZonesConfig *gst_zones_config_parse (const gchar *text, gchar **problem);
GstZonesConfig *gst_zones_config_load (const gchar *path, gchar **problem);

/* What zones have that do not say otherwise. */
typedef struct {
  CuvZoneAnchor anchor;
  gint hysteresis;
  gint64 dwell;
  gint crowd;
  guint32 *labels;
  gint n_labels;
} GstZonesDefaults;

/* Zones in pixels of a frame. */
typedef struct {
  CuvZone *zones;
  gint n;
  gpointer memory; /* what zones points to */
} GstZonesPlaced;

/* Places the zones of a stream. config: NULL = no zones. Returns NULL and sets
 * *problem if a zone has no extent in such frames. */
GstZonesPlaced *gst_zones_config_place (const GstZonesConfig *config,
    const GstZonesDefaults *defaults, guint stream, gint width, gint height,
    gchar **problem);
void gst_zones_placed_free (GstZonesPlaced *self);

/* Reads labels separated by commas; *n is set to their number. */
guint32 *gst_zones_labels_parse (const gchar *text, gint *n);

#endif
