/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "config.h"
#include "gstzonesstream.h"

GstZonesStream *
gst_zones_stream_new (guint number)
{
  GstZonesStream *self = g_new0 (GstZonesStream, 1);

  gst_cuv_stream_init (&self->base, number);
  self->heat_shown = -1;
  self->zones = cuv_zones_new ();
  if (self->zones == NULL)
    g_clear_pointer (&self, gst_zones_stream_free);
  return self;
}

void
gst_zones_stream_free (gpointer data)
{
  GstZonesStream *self = data;

  cuv_zones_free (self->zones);
  g_clear_pointer (&self->placed, gst_zones_placed_free);
  cuv_zone_heat_close (&self->heat);
  gst_cuv_stream_clear (&self->base);
  g_free (self);
}

gboolean
gst_zones_stream_is_video (const GstZonesStream *self)
{
  const gint most = CUV_ZONE_MAX / (4 * CUV_ZONE_SCALE);

  return self->base.width >= 1 && self->base.height >= 1
      && self->base.width <= most && self->base.height <= most;
}

/* ---- settings ---- */

static gchar *
use_heat (GstZonesStream *self, gint cell)
{
  const gint before = self->heat.cells != NULL ? self->heat.cell : 0;

  if (cell == before && self->sized)
    return NULL;
  if (cell == 0)
    cuv_zone_heat_close (&self->heat);
  else if (!cuv_zone_heat_open (
               &self->heat, self->base.width, self->base.height, cell))
    return g_strdup ("out of memory for the heat map: increase heat-cell");
  self->heat_shown = -1;
  return NULL;
}

gchar *
gst_zones_stream_use (GstZonesStream *self,
    const GstVisionZonesSettings *settings, const GstZonesDefaults *defaults)
{
  gchar *problem;
  GstZonesPlaced *placed = gst_zones_config_place (
      settings->zones != NULL ? settings->zones : settings->file, defaults,
      self->base.number, self->base.width, self->base.height, &problem);

  if (problem == NULL)
    problem = use_heat (self, settings->heat_cell);
  if (problem == NULL && !cuv_zones_set (self->zones, placed->zones, placed->n))
    problem = g_strdup ("out of memory for the zones: use fewer");
  if (problem != NULL) {
    g_clear_pointer (&placed, gst_zones_placed_free);
    return problem;
  }
  g_clear_pointer (&self->placed, gst_zones_placed_free);
  self->placed = placed;
  return NULL;
}

/* ---- frames ---- */

void
gst_zones_stream_changed (GstZonesStream *self, GstCuvStreamChange change)
{
  if (change == GST_CUV_STREAM_RESIZED)
    self->sized = FALSE;
  if (change == GST_CUV_STREAM_FLUSHED) {
    cuv_zones_forget (self->zones);
    self->heat.begun = FALSE;
  }
}

void
gst_zones_stream_set_time (GstZonesStream *self, GstBuffer *buffer)
{
  GstClockTime time = gst_cuv_stream_time (&self->base.segment, buffer);

  if (!GST_CLOCK_TIME_IS_VALID (time))
    time = GST_BUFFER_PTS (buffer);
  if (!GST_CLOCK_TIME_IS_VALID (time) || time > G_MAXINT64)
    return;
  if ((gint64) time < self->time) {
    cuv_zones_forget (self->zones);
    self->heat.begun = FALSE;
    self->heat_shown = -1;
  }
  self->time = (gint64) time;
}

gboolean
gst_zones_stream_add_heat (GstZonesStream *self,
    const GstVisionZonesSettings *settings, const CuvZoneObject *objects,
    gint n)
{
  const CuvZoneAnchor anchor =
      MIN ((CuvZoneAnchor) settings->anchor, CUV_ANCHOR_CENTER);

  if (self->heat.cells == NULL)
    return FALSE;
  cuv_zone_heat_add (
      &self->heat, objects, n, anchor, self->time, settings->heat_half_life);
  if (self->heat_shown >= 0
      && (gdouble) (self->time - self->heat_shown)
          < settings->heat_interval * 1e9)
    return FALSE;
  self->heat_shown = self->time;
  return TRUE;
}
