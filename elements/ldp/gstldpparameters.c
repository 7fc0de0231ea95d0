/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "config.h"
#include "gstldpparameters.h"

#define AT(field) G_STRUCT_OFFSET (GstLdpParameters, field)
#define ALL_DIRECTIONS (CUV_LDP_0 | CUV_LDP_45 | CUV_LDP_90 | CUV_LDP_135)

/* ---- enums ---- */

static GType
directions_get_type (void)
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

static GType
border_get_type (void)
{
  static gsize type = 0;
  static const GEnumValue values[] = {
    { CUV_LDP_VALID, "Codes that need pixels beyond it are not counted",
        "valid" },
    { CUV_LDP_REPLICATE, "The picture goes on with its border's pixels",
        "replicate" },
    { 0, NULL, NULL },
  };

  return gst_cuv_enum_register (&type, "GstLdpBorder", values);
}

static GType
bins_get_type (void)
{
  static gsize type = 0;
  static const GEnumValue values[] = {
    { CUV_LDP_BINS_256, "Each code has its own", "256" },
    { CUV_LDP_BINS_UNIFORM,
        "58 for codes of at most two changes around the pixel, and one",
        "uniform" },
    { CUV_LDP_BINS_LEVELS, "levels bins of as many codes each", "levels" },
    { 0, NULL, NULL },
  };

  return gst_cuv_enum_register (&type, "GstLdpBins", values);
}

static const gchar *
nick_of (GType type, gint value)
{
  GEnumClass *klass = g_type_class_ref (type);
  const GEnumValue *found = g_enum_get_value (klass, value);
  const gchar *nick = found != NULL ? found->value_nick : NULL;

  g_type_class_unref (klass); /* texts are static */
  return nick;
}

static gint
value_of (GType type, const gchar *nick)
{
  GEnumClass *klass = g_type_class_ref (type);
  const GEnumValue *found =
      nick != NULL ? g_enum_get_value_by_nick (klass, nick) : NULL;
  const gint value = found != NULL ? found->value : -1;

  g_type_class_unref (klass);
  return value;
}

const gchar *
gst_ldp_border_nick (gint border)
{
  return nick_of (border_get_type (), border);
}

const gchar *
gst_ldp_bins_nick (gint bins)
{
  return nick_of (bins_get_type (), bins);
}

gint
gst_ldp_border_of_nick (const gchar *nick)
{
  return value_of (border_get_type (), nick);
}

gint
gst_ldp_bins_of_nick (const gchar *nick)
{
  return value_of (bins_get_type (), nick);
}

/* ---- the table ---- */

/* in the order of GstLdpParameters */
static const GstCuvProperty properties[] = {
  { "order", "Order",
      "Order of the patterns: derivatives of one less are compared. Higher "
      "ones see finer detail, and more noise",
      AT (order), G_TYPE_UINT, NULL, CUV_LDP_MIN_ORDER, CUV_LDP_MAX_ORDER, 3,
      0 },
  { "grid", "Grid", "Blocks across and down, each with its own histograms",
      AT (grid), G_TYPE_UINT, NULL, 1, 1024, 8, 0 },
  { "block", "Block", "Pixels of a block, across and down (0 = as grid says)",
      AT (block), G_TYPE_UINT, NULL, 0, CUV_LDP_MAX_SIZE, 0, 0 },
  { "directions", "Directions",
      "Degrees of the directions that derivatives are taken along, as 0+90",
      AT (directions), 0, directions_get_type, 0, 0, ALL_DIRECTIONS, 0 },
  { "merge-directions", "Merge directions",
      "Count the codes of all directions in one histogram of a block",
      AT (merge), G_TYPE_BOOLEAN, NULL, 0, 1, FALSE, 0 },
  { "border", "Border", "What becomes of pixels near the picture's border",
      AT (border), 0, border_get_type, 0, 0, CUV_LDP_VALID, 0 },
  { "bins", "Bins", "What codes are counted by", AT (bins), 0, bins_get_type, 0,
      0, CUV_LDP_BINS_256, 0 },
  { "levels", "Levels", "How many bins (bins=levels)", AT (levels), G_TYPE_UINT,
      NULL, 2, CUV_LDP_CODES, 32, 0 },
  { "descriptor-width", "Descriptor width",
      "What is described is made so many pixels wide before (0 = as it is)",
      AT (width), G_TYPE_UINT, NULL, 0, CUV_LDP_MAX_SIZE, 0, 0 },
  { "descriptor-height", "Descriptor height",
      "What is described is made so many pixels high before (0 = as it is)",
      AT (height), G_TYPE_UINT, NULL, 0, CUV_LDP_MAX_SIZE, 0, 0 },
};

G_STATIC_ASSERT (G_N_ELEMENTS (properties) == GST_LDP_N_PARAMETERS);

void
gst_ldp_parameters_install (GObjectClass *klass, guint first)
{
  gst_cuv_properties_install (
      klass, properties, G_N_ELEMENTS (properties), first);
}

void
gst_ldp_parameters_reset (GstLdpParameters *self)
{
  gst_cuv_properties_reset (properties, G_N_ELEMENTS (properties), self);
}

gpointer
gst_ldp_parameters_place (GstLdpParameters *self, guint nth)
{
  return G_STRUCT_MEMBER_P (self, properties[nth].offset);
}

/* ---- what they come to ---- */

/* What is not looked at is the same for all. */
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

gchar *
gst_ldp_parameters_shape (
    const GstLdpParameters *self, gint width, gint height, CuvLdpShape *shape)
{
  const CuvLdpParams params = gst_ldp_parameters_params (self);
  const gint across = self->width > 0 ? self->width : width;
  const gint down = self->height > 0 ? self->height : height;

  if (self->directions == 0)
    return g_strdup ("directions is empty: give one or more, as 0+90");
  if (self->block == 0 && (self->grid > across || self->grid > down))
    return g_strdup_printf (
        "grid %d has more blocks than the %dx%d pixels that are described: "
        "lower it, or raise descriptor-width and descriptor-height",
        self->grid, across, down);
  if (across > CUV_LDP_MAX_SIZE || down > CUV_LDP_MAX_SIZE)
    return g_strdup_printf (
        "%dx%d pixels are too many to describe: set descriptor-width and "
        "descriptor-height to up to %d",
        across, down, CUV_LDP_MAX_SIZE);
  return g_strdup (cuv_ldp_shape_init (shape, &params, across, down));
}
