/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "config.h"
#include "settings/gstcuvsettings.h"

#include <string.h>

/* ---- fields ---- */

static GType
type_of (const GstCuvSetting *setting)
{
  return setting->get_type != NULL ? setting->get_type () : setting->type;
}

static gboolean
is_boxed (const GstCuvSetting *setting)
{
  return setting->type == G_TYPE_STRING || type_of (setting) == GST_TYPE_ARRAY;
}

static gpointer
field_of (gpointer settings, const GstCuvSetting *setting)
{
  return G_STRUCT_MEMBER_P (settings, setting->offset);
}

static void
replace_string (gchar **field, const gchar *text)
{
  gchar *copy = g_strdup (text);

  g_free (*field);
  *field = copy;
}

static void
replace_boxed (gpointer *field, GType type, gconstpointer value)
{
  gpointer copy = value != NULL ? g_boxed_copy (type, value) : NULL;

  if (*field != NULL)
    g_boxed_free (type, *field);
  *field = copy;
}

/* Copies what the fields point to, after a copy of the struct itself: to and
 * from must not share anything. from = NULL frees it. */
static void
replace_owned (const GstCuvSettingsTable *table, gpointer to, gpointer from)
{
  for (guint i = 0; i < table->n; i++) {
    const GstCuvSetting *setting = &table->list[i];
    gpointer *field = field_of (to, setting);

    if (setting->get != NULL || !is_boxed (setting))
      continue;
    if (setting->type == G_TYPE_STRING)
      replace_string ((gchar **) field,
          from != NULL ? *(gchar **) field_of (from, setting) : NULL);
    else
      replace_boxed (field, G_TYPE_VALUE,
          from != NULL ? *(gpointer *) field_of (from, setting) : NULL);
  }
  for (guint i = 0; i < table->n_owned; i++) {
    const GstCuvOwnedField *owned = &table->owned[i];

    replace_boxed (G_STRUCT_MEMBER_P (to, owned->offset), owned->type (),
        from != NULL ? G_STRUCT_MEMBER (gpointer, from, owned->offset) : NULL);
  }
}

static void
zero_owned (const GstCuvSettingsTable *table, gpointer settings)
{
  for (guint i = 0; i < table->n; i++) {
    const GstCuvSetting *setting = &table->list[i];

    if (setting->get == NULL && is_boxed (setting))
      *(gpointer *) field_of (settings, setting) = NULL;
  }
  for (guint i = 0; i < table->n_owned; i++)
    G_STRUCT_MEMBER (gpointer, settings, table->owned[i].offset) = NULL;
}

static gpointer
copy_settings (const GstCuvSettingsTable *table, gpointer settings)
{
  gpointer copy = g_memdup2 (settings, table->size);

  zero_owned (table, copy);
  replace_owned (table, copy, settings);
  return copy;
}

static void
free_settings (const GstCuvSettingsTable *table, gpointer settings)
{
  replace_owned (table, settings, NULL);
  g_free (settings);
}

/* ---- values ---- */

static gint
get_int (const GValue *value)
{
  if (G_VALUE_HOLDS_INT (value))
    return g_value_get_int (value);
  if (G_VALUE_HOLDS_UINT (value))
    return (gint) g_value_get_uint (value);
  if (G_VALUE_HOLDS_BOOLEAN (value))
    return g_value_get_boolean (value);
  if (G_VALUE_HOLDS_FLAGS (value))
    return (gint) g_value_get_flags (value);
  return g_value_get_enum (value);
}

static gboolean
store_fraction (gint *field, gint numerator, gint denominator)
{
  const gboolean changes = field[0] != numerator || field[1] != denominator;

  field[0] = numerator;
  field[1] = denominator;
  return changes;
}

#define STORE(type, field, value)                                              \
  (*(type *) (field) != (value) ? (*(type *) (field) = (value), TRUE) : FALSE)

/* Whether the field changes. */
static gboolean
store (const GstCuvSetting *setting, gpointer field, const GValue *value)
{
  const gchar *text;

  switch (G_VALUE_TYPE (value)) {
    case G_TYPE_DOUBLE:
      return STORE (gdouble, field, g_value_get_double (value));
    case G_TYPE_FLOAT:
      return STORE (gfloat, field, g_value_get_float (value));
    case G_TYPE_UINT64:
      return STORE (guint64, field, g_value_get_uint64 (value));
    case G_TYPE_STRING:
      text = g_value_get_string (value);
      if (setting->text != NULL && (text == NULL || *text == '\0'))
        text = setting->text;
      replace_string (field, text);
      return TRUE;
    default:
      if (GST_VALUE_HOLDS_FRACTION (value))
        return store_fraction (field, gst_value_get_fraction_numerator (value),
            gst_value_get_fraction_denominator (value));
      if (!G_VALUE_HOLDS (value, GST_TYPE_ARRAY))
        return STORE (gint, field, get_int (value));
      replace_boxed (field, G_TYPE_VALUE, value);
      return TRUE;
  }
}

static void
fetch (const GstCuvSetting *setting, gconstpointer field, GValue *value)
{
  switch (G_VALUE_TYPE (value)) {
    case G_TYPE_DOUBLE:
      g_value_set_double (value, *(const gdouble *) field);
      break;
    case G_TYPE_FLOAT:
      g_value_set_float (value, *(const gfloat *) field);
      break;
    case G_TYPE_UINT64:
      g_value_set_uint64 (value, *(const guint64 *) field);
      break;
    case G_TYPE_STRING:
      g_value_set_string (value, *(gchar *const *) field);
      break;
    case G_TYPE_INT:
      g_value_set_int (value, *(const gint *) field);
      break;
    case G_TYPE_UINT:
      g_value_set_uint (value, (guint) * (const gint *) field);
      break;
    case G_TYPE_BOOLEAN:
      g_value_set_boolean (value, *(const gint *) field);
      break;
    default:
      if (G_VALUE_HOLDS_FLAGS (value))
        g_value_set_flags (value, (guint) * (const gint *) field);
      else if (G_VALUE_HOLDS_ENUM (value))
        g_value_set_enum (value, *(const gint *) field);
      else if (GST_VALUE_HOLDS_FRACTION (value))
        gst_value_set_fraction (
            value, ((const gint *) field)[0], ((const gint *) field)[1]);
      else if (*(GValue *const *) field != NULL)
        g_value_copy (*(GValue *const *) field, value);
  }
}

static void
store_default (const GstCuvSetting *setting, gpointer field)
{
  if (setting->type == G_TYPE_STRING)
    replace_string (field, setting->text);
  else if (setting->type == G_TYPE_DOUBLE)
    *(gdouble *) field = setting->value;
  else if (setting->type == G_TYPE_FLOAT)
    *(gfloat *) field = (gfloat) setting->value;
  else if (setting->type == G_TYPE_UINT64)
    *(guint64 *) field = (guint64) setting->value;
  else if (type_of (setting) == GST_TYPE_FRACTION)
    store_fraction (field, (gint) setting->value, 1);
  else if (!is_boxed (setting))
    *(gint *) field = (gint) setting->value;
}

/* ---- parsing ---- */

/* As valid UTF-8, for messages; files can have any name. */
static gchar *
describe_value (const GstCuvSetting *setting, gpointer settings)
{
  GValue value = G_VALUE_INIT;
  gchar *text, *valid;

  g_value_init (&value, type_of (setting));
  fetch (setting, field_of (settings, setting), &value);
  text = G_VALUE_HOLDS_STRING (&value) ? g_value_dup_string (&value)
                                       : gst_value_serialize (&value);
  g_value_unset (&value);
  valid = text != NULL ? g_utf8_make_valid (text, -1) : g_strdup ("");
  g_free (text);
  return valid;
}

/* Takes problem. Must be called without the object lock: who hears of the
 * message may set properties at once. */
static void
post_problem (GstCuvSettings *self, const GstCuvSetting *setting,
    gpointer settings, gboolean live, gchar *problem)
{
  gchar *value = describe_value (setting, settings);
  gchar *text = g_strdup_printf ("%s '%s' is refused%s: %s.", setting->name,
      value, live ? ", the one before stays" : "", problem);
  const GQuark domain =
      setting->is_file ? GST_RESOURCE_ERROR : GST_LIBRARY_ERROR;
  const gint code = setting->is_file ? (gint) GST_RESOURCE_ERROR_OPEN_READ
                                     : (gint) GST_LIBRARY_ERROR_SETTINGS;

  gst_element_message_full (self->element,
      live ? GST_MESSAGE_WARNING : GST_MESSAGE_ERROR, domain, code, text, NULL,
      __FILE__, GST_FUNCTION, __LINE__);
  g_free (value);
  g_free (problem);
}

static gpointer
copy_pending (GstCuvSettings *self)
{
  gpointer copy;

  GST_OBJECT_LOCK (self->element);
  copy = copy_settings (self->table, self->pending);
  GST_OBJECT_UNLOCK (self->element);
  return copy;
}

/* Properties without a parser may have been set since the copy was made: a
 * controller does not wait for a file. The object lock is held. */
static void
update_copy (GstCuvSettings *self, gpointer copy)
{
  for (guint i = 0; i < self->table->n; i++) {
    const GstCuvSetting *setting = &self->table->list[i];
    GValue value = G_VALUE_INIT;

    if (setting->parse != NULL || setting->get != NULL)
      continue;
    g_value_init (&value, type_of (setting));
    fetch (setting, field_of (self->pending, setting), &value);
    store (setting, field_of (copy, setting), &value);
    g_value_unset (&value);
  }
}

/* Makes a copy of the pending settings be the pending ones. */
static void
replace_pending (GstCuvSettings *self, gpointer copy)
{
  gpointer before;

  GST_OBJECT_LOCK (self->element);
  update_copy (self, copy);
  before = self->pending;
  self->pending = copy;
  self->serial++;
  GST_OBJECT_UNLOCK (self->element);
  free_settings (self->table, before);
}

static void
set_parsed (
    GstCuvSettings *self, const GstCuvSetting *setting, const GValue *value)
{
  gchar *problem = NULL;
  gpointer copy;

  g_mutex_lock (&self->changing);
  copy = copy_pending (self);
  if (store (setting, field_of (copy, setting), value) && self->started)
    problem = setting->parse (copy);
  if (problem == NULL)
    replace_pending (self, copy);
  g_mutex_unlock (&self->changing);
  if (problem == NULL)
    return;
  post_problem (self, setting, copy, TRUE, problem);
  free_settings (self->table, copy);
}

static gboolean
refused_while_started (
    GstCuvSettings *self, const GstCuvSetting *setting, const GValue *value)
{
  gboolean started;
  gpointer copy;

  g_mutex_lock (&self->changing);
  started = self->started;
  g_mutex_unlock (&self->changing);
  if (!started)
    return FALSE;
  copy = copy_pending (self);
  store (setting, field_of (copy, setting), value);
  post_problem (self, setting, copy, TRUE,
      g_strdup ("it can change in state NULL or READY only"));
  free_settings (self->table, copy);
  return TRUE;
}

gboolean
gst_cuv_settings_start (GstCuvSettings *self)
{
  const GstCuvSettingsTable *table = self->table;
  gchar *problem = NULL;
  gpointer copy;
  guint i;

  g_mutex_lock (&self->changing);
  copy = copy_pending (self);
  for (i = 0; problem == NULL && i < table->n; i++) {
    if (table->list[i].parse != NULL)
      problem = table->list[i].parse (copy);
  }
  self->has_in_force = FALSE;
  self->started = problem == NULL;
  if (problem == NULL)
    replace_pending (self, copy);
  g_mutex_unlock (&self->changing);
  if (problem == NULL)
    return TRUE;
  post_problem (self, &table->list[i - 1], copy, FALSE, problem);
  free_settings (table, copy);
  return FALSE;
}

static void
free_parsed (GstCuvSettings *self, gpointer settings)
{
  for (guint i = 0; i < self->table->n_owned; i++) {
    const GstCuvOwnedField *owned = &self->table->owned[i];

    replace_boxed (
        G_STRUCT_MEMBER_P (settings, owned->offset), owned->type (), NULL);
  }
}

void
gst_cuv_settings_stop (GstCuvSettings *self)
{
  g_mutex_lock (&self->changing);
  GST_OBJECT_LOCK (self->element);
  self->started = self->has_in_force = FALSE;
  free_parsed (self, self->pending);
  free_parsed (self, self->in_force);
  GST_OBJECT_UNLOCK (self->element);
  g_mutex_unlock (&self->changing);
}

/* ---- in force ---- */

gboolean
gst_cuv_settings_changed (GstCuvSettings *self)
{
  gboolean changed;

  GST_OBJECT_LOCK (self->element);
  changed = self->serial != self->applied;
  GST_OBJECT_UNLOCK (self->element);
  return changed;
}

static gchar *
use_settings (GstCuvSettings *self, gpointer settings, GstCuvSettingsUse use,
    gconstpointer data)
{
  gchar *problem =
      self->table->check != NULL ? self->table->check (settings) : NULL;

  if (problem == NULL && use != NULL)
    problem = use (self->element, settings, data);
  return problem;
}

/* Frames of another size may need the settings in force to be prepared anew. */
static gboolean
keep_in_force (GstCuvSettings *self, GstCuvSettingsUse use, gconstpointer data,
    const gchar *problem)
{
  gchar *other = NULL;
  gboolean kept = self->has_in_force;

  if (kept)
    other = use_settings (self, self->in_force, use, data);
  kept = kept && other == NULL;
  g_free (other);
  if (kept)
    GST_ELEMENT_WARNING (self->element, LIBRARY, SETTINGS,
        ("%s. The settings before stay in force.", problem), (NULL));
  else
    GST_ELEMENT_ERROR (
        self->element, LIBRARY, SETTINGS, ("%s.", problem), (NULL));
  return kept;
}

gboolean
gst_cuv_settings_apply (
    GstCuvSettings *self, GstCuvSettingsUse use, gconstpointer data)
{
  gpointer candidate;
  gboolean ok = TRUE;
  gchar *problem;

  GST_OBJECT_LOCK (self->element);
  self->applied = self->serial;
  candidate = copy_settings (self->table, self->pending);
  GST_OBJECT_UNLOCK (self->element);
  problem = use_settings (self, candidate, use, data);
  if (problem == NULL) {
    gpointer before = self->in_force;

    self->in_force = candidate;
    self->has_in_force = TRUE;
    candidate = before;
  } else {
    ok = keep_in_force (self, use, data, problem);
  }
  g_free (problem);
  free_settings (self->table, candidate);
  return ok;
}

/* ---- GObject ---- */

typedef struct {
  const GstCuvSettingsTable *table;
  gssize offset;
} Installed;

static GQuark
installed_quark (void)
{
  return g_quark_from_static_string ("gst-cuv-settings");
}

static GstCuvSettings *
settings_in (gpointer element, GType type)
{
  const Installed *installed = g_type_get_qdata (type, installed_quark ());

  return installed != NULL ? G_STRUCT_MEMBER_P (element, installed->offset)
                           : NULL;
}

GstCuvSettings *
gst_cuv_settings_of (gpointer element)
{
  return settings_in (element, G_OBJECT_TYPE (element));
}

gboolean
gst_cuv_settings_start_all (gpointer element)
{
  for (GType type = G_OBJECT_TYPE (element); type != 0;
       type = g_type_parent (type)) {
    GstCuvSettings *self = settings_in (element, type);

    if (self != NULL && !gst_cuv_settings_start (self))
      return FALSE;
  }
  return TRUE;
}

void
gst_cuv_settings_stop_all (gpointer element)
{
  for (GType type = G_OBJECT_TYPE (element); type != 0;
       type = g_type_parent (type)) {
    GstCuvSettings *self = settings_in (element, type);

    if (self != NULL)
      gst_cuv_settings_stop (self);
  }
}

static void
set_property (GObject *object, guint id, const GValue *value, GParamSpec *pspec)
{
  GstCuvSettings *self = settings_in (object, pspec->owner_type);
  const GstCuvSetting *setting = &self->table->list[id - 1];

  if (setting->only_stopped && refused_while_started (self, setting, value))
    return;
  if (setting->parse != NULL) {
    set_parsed (self, setting, value);
    return;
  }
  GST_OBJECT_LOCK (object);
  /* controllers set properties at every frame: only a change is work */
  if (store (setting, field_of (self->pending, setting), value))
    self->serial++;
  GST_OBJECT_UNLOCK (object);
}

static void
get_property (GObject *object, guint id, GValue *value, GParamSpec *pspec)
{
  GstCuvSettings *self = settings_in (object, pspec->owner_type);
  const GstCuvSetting *setting = &self->table->list[id - 1];

  if (setting->get != NULL) {
    setting->get (GST_ELEMENT (object), value);
    return;
  }
  GST_OBJECT_LOCK (object);
  fetch (setting, field_of (self->pending, setting), value);
  GST_OBJECT_UNLOCK (object);
}

void
gst_cuv_settings_class_install (
    GObjectClass *klass, const GstCuvSettingsTable *table, gssize offset)
{
  Installed *installed = g_new (Installed, 1); /* as long as the type */

  *installed = (Installed){ table, offset };
  g_type_set_qdata (G_TYPE_FROM_CLASS (klass), installed_quark (), installed);
  klass->set_property = set_property;
  klass->get_property = get_property;
  for (guint i = 0; i < table->n; i++)
    g_object_class_install_property (
        klass, i + 1, gst_cuv_setting_make_spec (&table->list[i]));
}

void
gst_cuv_settings_init (
    GstCuvSettings *self, gpointer element, const GstCuvSettingsTable *table)
{
  self->element = element;
  self->table = table;
  self->pending = g_malloc0 (table->size);
  g_mutex_init (&self->changing);
  for (guint i = 0; i < table->n; i++) {
    if (table->list[i].get == NULL)
      store_default (
          &table->list[i], field_of (self->pending, &table->list[i]));
  }
  self->in_force = copy_settings (table, self->pending);
}

void
gst_cuv_settings_clear (GstCuvSettings *self)
{
  free_settings (self->table, self->pending);
  free_settings (self->table, self->in_force);
  g_mutex_clear (&self->changing);
}
