/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "config.h"
#include "gstvisionzonessettings.h"

GST_CUV_DEFINE_ENUM (anchor_get_type, "GstVisionZonesAnchor",
    { CUV_ANCHOR_BOTTOM_CENTER, "Middle of the lower edge", "bottom-center" },
    { CUV_ANCHOR_CENTER, "Centre of the box", "center" },
    { CUV_ANCHOR_ANY, "Any part of the box (polygons)", "any" })

GST_CUV_DEFINE_ENUM (message_get_type, "GstVisionZonesMessage",
    { GST_VISION_ZONES_MESSAGE_NONE, "Post no message", "none" },
    { GST_VISION_ZONES_MESSAGE_ON_CHANGE, "Post one for each event",
        "on-change" })

static void
replace (GstZonesConfig **config, GstZonesConfig *by)
{
  if (*config != NULL)
    g_boxed_free (GST_TYPE_ZONES_CONFIG, *config);
  *config = by;
}

static gchar *
parse_zones (gpointer settings)
{
  GstVisionZonesSettings *self = settings;
  gchar *problem = NULL;

  replace (&self->zones, NULL);
  if (self->zones_text != NULL && *self->zones_text != '\0')
    self->zones = gst_zones_config_parse (self->zones_text, &problem);
  return problem;
}

static gchar *
load_zones (gpointer settings)
{
  GstVisionZonesSettings *self = settings;
  gchar *problem = NULL;

  replace (&self->file, NULL);
  if (self->location != NULL && *self->location != '\0')
    self->file = gst_zones_config_load (self->location, &problem);
  return problem;
}

#define AT(field) G_STRUCT_OFFSET (GstVisionZonesSettings, field)

/**
 * GstVisionZones:zones:
 *
 * The zones as JSON text. If it is empty, those of the file
 * #GstVisionZones:zones-location are used.
 *
 * Since: 0.1
 */
/**
 * GstVisionZones:max-lost-frames:
 *
 * How many frames a track may be missing before it has ended, which makes it
 * leave the zones that it was in.
 *
 * Since: 0.1
 */
/**
 * GstVisionZones:stats:
 *
 * A structure with frames, objects, untracked (objects without an id), events
 * (uint64), zones (uint), and microseconds (uint64) of the last
 * frame.
 *
 * Since: 0.1
 */
static const GstCuvSetting list[] = {
  { "zones", "Zones",
      "Zones as JSON (empty = those of the file zones-location)",
      .offset = AT (zones_text), .type = G_TYPE_STRING, .parse = parse_zones },
  { "zones-location", "Zones location", "Path of a JSON file with zones",
      .offset = AT (location), .type = G_TYPE_STRING, .parse = load_zones,
      .is_file = TRUE },
  { "anchor", "Anchor", "Which part of a box must be in a polygon",
      .offset = AT (anchor), .get_type = anchor_get_type },
  { "hysteresis", "Hysteresis",
      "Frames outside before an object has left, or on the other side before "
      "it has crossed",
      .offset = AT (hysteresis), .type = G_TYPE_UINT, .minimum = 1,
      .maximum = GST_ZONES_MAX_HYSTERESIS, .value = 3 },
  { "labels", "Labels",
      "Labels of the objects to count, separated by commas (empty = all)",
      .offset = AT (labels), .type = G_TYPE_STRING },
  { "dwell", "Dwell", "Seconds inside after which an event says so (0 = never)",
      .offset = AT (dwell), .type = G_TYPE_DOUBLE, .maximum = 1e9 },
  { "crowd", "Crowd",
      "Number of objects inside from which an event says so (0 = never)",
      .offset = AT (crowd), .type = G_TYPE_UINT, .maximum = 1000000 },
  { "max-lost-frames", "Maximum lost frames",
      "Frames that a track may be missing before it has ended",
      .offset = AT (max_lost), .type = G_TYPE_UINT, .maximum = 1000000,
      .value = 30 },
  { "heat-cell", "Heat cell",
      "Side of a cell of the heat map in pixels (0 = no heat map)",
      .offset = AT (heat_cell), .type = G_TYPE_UINT, .maximum = 32767 },
  { "heat-half-life", "Heat half-life",
      "Seconds after which the heat map has halved (0 = never)",
      .offset = AT (heat_half_life), .type = G_TYPE_DOUBLE, .maximum = 1e9,
      .value = 60 },
  { "heat-interval", "Heat interval",
      "Seconds between frames with the heat map (0 = every frame)",
      .offset = AT (heat_interval), .type = G_TYPE_DOUBLE, .maximum = 1e9,
      .value = 1 },
  { "outlines", "Outlines", "Add the edges of the zones, to be drawn",
      .offset = AT (outlines), .type = G_TYPE_BOOLEAN, .value = TRUE },
  { "message", "Message", "When to post events as element messages",
      .offset = AT (message), .get_type = message_get_type,
      .value = GST_VISION_ZONES_MESSAGE_ON_CHANGE },
  { "stats", "Statistics", "Statistics of the element's work",
      .get_type = gst_structure_get_type, .get = gst_vision_zones_get_stats },
};

static const GstCuvOwnedField owned[] = {
  { AT (zones), gst_zones_config_get_type },
  { AT (file), gst_zones_config_get_type },
};

const GstCuvSettingsTable gst_vision_zones_settings = {
  GST_CUV_SETTINGS (GstVisionZonesSettings, list),
  GST_CUV_OWNED_FIELDS (owned),
};
