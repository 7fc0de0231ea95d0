/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "config.h"
#include "shared/gstldpparameters.h"

/* ---- enums ---- */

GType
gst_ldp_directions_get_type (void)
{
  static gsize type = 0;
  static const GFlagsValue values[] = {
    { CUV_LDP_0, "To the right", "0" },
    { CUV_LDP_45, "Up and to the right", "45" },
    { CUV_LDP_90, "Upwards", "90" },
    { CUV_LDP_135, "Up and to the left", "135" },
    { 0, NULL, NULL },
  };

  return gst_cuv_flags_register (&type, "GstLdpDirections", values);
}

static const GEnumValue border_values[] = {
  { CUV_LDP_VALID,
      "Pixels whose code depends on pixels outside are not counted", "valid" },
  { CUV_LDP_REPLICATE, "The border pixels are replicated outside the picture",
      "replicate" },
  { 0, NULL, NULL },
};

static const GEnumValue bins_values[] = {
  { CUV_LDP_BINS_256, "One for each code", "256" },
  { CUV_LDP_BINS_UNIFORM,
      "59: one for each code whose bits change at most twice around the "
      "pixel, one for all others",
      "uniform" },
  { CUV_LDP_BINS_LEVELS, "As many as the property levels, of equal width",
      "levels" },
  { 0, NULL, NULL },
};

GType
gst_ldp_border_get_type (void)
{
  static gsize type = 0;

  return gst_cuv_enum_register (&type, "GstLdpBorder", border_values);
}

GType
gst_ldp_bins_get_type (void)
{
  static gsize type = 0;

  return gst_cuv_enum_register (&type, "GstLdpBins", bins_values);
}

static const gchar *
nick_of (const GEnumValue *values, gint value)
{
  while (values->value_nick != NULL && values->value != value)
    values++;
  return values->value_nick;
}

static gint
value_of (const GEnumValue *values, const gchar *nick)
{
  while (
      values->value_nick != NULL && g_strcmp0 (values->value_nick, nick) != 0)
    values++;
  return values->value_nick != NULL ? values->value : -1;
}

const gchar *
gst_ldp_border_nick (gint border)
{
  return nick_of (border_values, border);
}

const gchar *
gst_ldp_bins_nick (gint bins)
{
  return nick_of (bins_values, bins);
}

gint
gst_ldp_border_of_nick (const gchar *nick)
{
  return value_of (border_values, nick);
}

gint
gst_ldp_bins_of_nick (const gchar *nick)
{
  return value_of (bins_values, nick);
}

/* ---- layouts ---- */

enum { MAX_MEGABYTES = 1024 }; /* counts of a frame must take fewer */

static guint64
bytes_of (const CuvLdpLayout *layout)
{
  return (guint64) cuv_ldp_n_counts (layout)
      * (guint64) cuv_ldp_count_size (layout);
}

/* Unused parameters are 0, so that equal layouts compare equal. */
CuvLdpParams
gst_ldp_parameters_params (const GstLdpParameters *self)
{
  return (CuvLdpParams){
    .order = self->order,
    .block = self->block,
    .grid = self->block > 0 ? 0 : self->grid,
    .directions = self->directions,
    .is_merged = self->merge != 0,
    .border = (CuvLdpBorder) self->border,
    .bins = (CuvLdpBins) self->bins,
    .levels = self->bins == CUV_LDP_BINS_LEVELS ? self->levels : 0,
  };
}

/* Tiny blocks would need gigabytes of counts. */
static gchar *
size_problem (const CuvLdpLayout *layout)
{
  const guint64 megabytes = bytes_of (layout) >> 20;
  const gboolean by_block = layout->params.block > 0;

  if (megabytes < MAX_MEGABYTES)
    return NULL;
  return g_strdup_printf (
      "%s %d makes %d x %d blocks, whose counts take %" G_GUINT64_FORMAT
      " MB, but must take less than %d: %s it, or use fewer bins or directions",
      by_block ? "block" : "grid",
      by_block ? layout->params.block : layout->params.grid, layout->columns,
      layout->rows, megabytes, MAX_MEGABYTES, by_block ? "raise" : "lower");
}

guint
gst_ldp_max_regions (const CuvLdpLayout *layout)
{
  const guint64 pixels = (guint64) layout->width * (guint64) layout->height;
  const guint64 by_memory =
      (((guint64) MAX_MEGABYTES << 20) - 1) / bytes_of (layout);

  return (guint) MIN (by_memory, CUV_LDP_MAX_PIXELS / pixels);
}

gchar *
gst_ldp_parameters_layout (
    const GstLdpParameters *self, gint width, gint height, CuvLdpLayout *layout)
{
  const CuvLdpParams params = gst_ldp_parameters_params (self);
  const gint across = self->width > 0 ? self->width : width;
  const gint down = self->height > 0 ? self->height : height;
  const gchar *problem;

  if (self->directions == 0)
    return g_strdup ("directions is empty: set one or more, for example 0+90");
  if (self->block == 0 && (self->grid > across || self->grid > down))
    return g_strdup_printf (
        "grid %d has more blocks than the %dx%d pixels to describe: "
        "lower it, or raise descriptor-width and descriptor-height",
        self->grid, across, down);
  if (across > CUV_LDP_MAX_SIZE || down > CUV_LDP_MAX_SIZE
      || across * down > CUV_LDP_MAX_PIXELS)
    return g_strdup_printf (
        "%dx%d pixels are too many to describe: set descriptor-width and "
        "descriptor-height to at most %d each and %d pixels in all",
        across, down, CUV_LDP_MAX_SIZE, CUV_LDP_MAX_PIXELS);
  problem = cuv_ldp_layout_init (layout, &params, across, down);
  return problem != NULL ? g_strdup (problem) : size_problem (layout);
}
