/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* GstCuvSettings: the properties of an element as one table.
 *
 *   gstcuvsettings.c  pending settings and those in force; messages; GObject
 *   gstcuvfields.c    the fields of a settings struct
 *   gstcuvparams.c    GParamSpecs from rows of the table, enums
 *
 * The element declares a struct with a field for each property, and a table
 * that describes them. This code does the rest: GObject properties and
 * defaults, set_property() and get_property(), parsing texts and loading files,
 * changes while the stream plays, settings that contradict each other.
 *
 *   typedef struct {
 *     gint threshold;
 *     gchar *roi;   // as it was set
 *     CuvRoi area;  // parsed from roi
 *   } GstExampleSettings;
 *
 *   static const GstCuvSetting list[] = {
 *     { "threshold", "Threshold", "Minimum votes of a line",
 *         .offset = AT (threshold), .type = G_TYPE_UINT, .maximum = 255,
 *         .value = 100 },
 *     { "roi", "Region of interest", "left,top,right,bottom in pixels",
 *         .offset = AT (roi), .type = G_TYPE_STRING, .parse = parse_roi },
 *   };
 *
 * Two copies of the struct exist: the pending one, which set_property() writes,
 * and the one in force, which the streaming thread uses. For each frame the
 * element calls gst_cuv_settings_apply() if gst_cuv_settings_changed(), which
 * puts the pending settings in force if they are valid. */
#ifndef GST_CUV_SETTINGS_H
#define GST_CUV_SETTINGS_H

#include <gst/gst.h>
#include "cuv-api.h"

G_BEGIN_DECLS

/* Flags of a property that can change while playing; with TUNABLE also by a
 * controller. */
#define GST_CUV_PARAM_LIVE                                                     \
  (G_PARAM_READWRITE | GST_PARAM_MUTABLE_PLAYING | G_PARAM_STATIC_STRINGS)
#define GST_CUV_PARAM_TUNABLE (GST_CUV_PARAM_LIVE | GST_PARAM_CONTROLLABLE)

/* One property. */
typedef struct {
  const gchar *name, *nick, *blurb;

  /* Offset of the field in the settings struct. The field is a gint for
   * G_TYPE_INT, G_TYPE_UINT, G_TYPE_BOOLEAN, enums and flags; gdouble, gfloat,
   * guint64; an owned gchar * for G_TYPE_STRING; an owned GValue * for
   * GST_TYPE_ARRAY; an owned pointer for other boxed types; gint[2] for
   * GST_TYPE_FRACTION. */
  gsize offset;
  GType type;
  GType (*get_type) (void); /* instead of type: enum, flags, array, boxed */

  gdouble minimum, maximum, value; /* range of a number; value is the default */
  const gchar *text; /* default of a string, also if NULL or "" is set */
  GParamSpec *(*make_spec) (void); /* if these cannot describe the range */

  /* Parses the property's text, or loads the file that it names, into other
   * fields of the settings. It may take long, as it works on a copy. Returns
   * NULL, or the problem, which the caller frees: what was expected. It is
   * appended to "<property> '<value>' is invalid: ", or to "... cannot be used:
   * " with is_file. Called at start, and after that whenever the property is
   * set. */
  gchar *(*parse) (gpointer settings);
  gboolean is_file; /* parse() reads a file: errors are RESOURCE errors */

  gboolean at_start;      /* a new value is used at the next start */
  gboolean only_stopped;  /* cannot be set from start to stop */
  gboolean no_controller; /* too expensive to change at every frame */
  void (*get) (GstElement *element, GValue *value); /* read-only property */
} GstCuvSetting;

/* A field of a boxed type that parse() sets. */
typedef struct {
  gsize offset;
  GType (*type) (void);
} GstCuvOwnedField;

typedef struct {
  gsize size; /* size of the settings struct */
  const GstCuvSetting *list;
  guint n;
  const GstCuvOwnedField *owned; /* freed at stop */
  guint n_owned;

  /* Returns NULL, or which values contradict each other and what to do, which
   * the caller frees. Optional. */
  gchar *(*check) (gconstpointer settings);
} GstCuvSettingsTable;

/* The first fields of a table, for a struct's type and a list of properties. */
#define GST_CUV_SETTINGS(Struct, rows)                                         \
  .size = sizeof (Struct), .list = rows, .n = G_N_ELEMENTS (rows)
#define GST_CUV_OWNED_FIELDS(fields)                                           \
  .owned = fields, .n_owned = G_N_ELEMENTS (fields)

typedef struct _GstCuvSettings GstCuvSettings;

struct _GstCuvSettings {
  GstElement *element;
  const GstCuvSettingsTable *table;
  GstCuvSettings
      *parent; /* settings of the element's next base class that has some */
  gpointer pending; /* under the object lock */
  gpointer in_force;
  gboolean has_in_force;
  gboolean started;
  gint error_posted; /* whether the element posted an error since the start;
                        atomic */
  gboolean is_resource_problem; /* set by GstCuvSettingsUse */
  guint serial, applied; /* number of changes so far, and at the last apply() */
  GMutex changing;       /* one parsed property changes at a time */
};

/* Call in class_init. Installs the properties and sets the class's
 * set_property(), get_property() and post_message(), which drops the error that
 * GstBaseSink and GstBaseSrc add to ours when a start fails. */
CUV_API void gst_cuv_settings_class_install (
    GObjectClass *klass, const GstCuvSettingsTable *table);

/* Call in instance_init. Puts the defaults in force. self is part of the
 * element, and is cleared when the element is finalized. */
CUV_API void gst_cuv_settings_init (
    GstCuvSettings *self, gpointer element, const GstCuvSettingsTable *table);

/* Returns the settings of the element's most derived class that has some. */
CUV_API GstCuvSettings *gst_cuv_settings_of (gpointer element);

/* Calls all parse() functions. Returns FALSE after an element error. */
CUV_API gboolean gst_cuv_settings_start (GstCuvSettings *self);
/* Frees what the parse() functions made. */
CUV_API void gst_cuv_settings_stop (GstCuvSettings *self);

/* Start or stop the settings of all classes of the element. */
CUV_API gboolean gst_cuv_settings_start_all (gpointer element);
CUV_API void gst_cuv_settings_stop_all (gpointer element);

/* Whether a property has changed since the last apply(). */
CUV_API gboolean gst_cuv_settings_changed (GstCuvSettings *self);

/* Prepares what the settings need. Returns NULL, or the problem, to be freed;
 * what was prepared before must then stay. If memory or the device failed
 * rather than the settings, it sets is_resource_problem, and the message is a
 * RESOURCE error instead of LIBRARY, SETTINGS. */
typedef gchar *(*GstCuvSettingsUse) (
    gpointer element, gconstpointer settings, gconstpointer data);

/* Puts the pending settings in force. If they contradict each other or use()
 * refuses them, posts a warning, and those in force stay; if there are none,
 * posts an error and returns FALSE. use may be NULL. Call in the streaming
 * thread. */
CUV_API gboolean gst_cuv_settings_apply (
    GstCuvSettings *self, GstCuvSettingsUse use, gconstpointer data);

/* Calls gst_cuv_settings_apply() if no settings are in force yet or a
 * property has changed; otherwise returns TRUE. */
CUV_API gboolean gst_cuv_settings_apply_changes (
    GstCuvSettings *self, GstCuvSettingsUse use, gconstpointer data);

/* Makes the GParamSpec of a setting. */
GParamSpec *gst_cuv_setting_make_spec (const GstCuvSetting *setting);

/* ---- enums ---- */

/* Define the get_type() of an enum, for other files as well or for this one
 * only. The values are GEnumValues. Their names must not change: saved presets
 * contain them. */
#define GST_CUV_DEFINE_PUBLIC_ENUM(get_type, name, ...)                        \
  GType get_type (void)                                                        \
  {                                                                            \
    static gsize type = 0;                                                     \
    static const GEnumValue values[] = { __VA_ARGS__, { 0, NULL, NULL } };     \
                                                                               \
    return gst_cuv_enum_register (&type, name, values);                        \
  }
#define GST_CUV_DEFINE_ENUM(get_type, ...)                                     \
  static GType get_type (void);                                                \
  GST_CUV_DEFINE_PUBLIC_ENUM (get_type, __VA_ARGS__)

/* Registers the type for the get_type() of an enum; type is its static
 * variable, 0 at first. */
CUV_API GType gst_cuv_enum_register (
    gsize *type, const gchar *name, const GEnumValue *values);
CUV_API GType gst_cuv_flags_register (
    gsize *type, const gchar *name, const GFlagsValue *values);

G_END_DECLS

#endif
