/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "config.h"
#include "settings/gstcuvfields.h"
#include "gstcuvstructure.h"
#include "gstcuvturns.h"

/* ---- parsing ---- */

/* Posts the problem of a property, and frees it. Call without the object lock:
 * a message handler may set properties at once. */
static void
post_problem (GstCuvSettings *self, const GstCuvSetting *setting,
    gpointer settings, gboolean live, const gchar *verdict, gchar *problem)
{
  gchar *value = gst_cuv_setting_describe (setting, settings);
  gchar *text = g_strdup_printf ("%s '%s' %s: %s.%s", setting->name, value,
      verdict, problem, live ? " The previous value stays in force." : "");
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

static const gchar *
verdict_of (const GstCuvSetting *setting)
{
  return setting->is_file ? "cannot be used" : "is invalid";
}

static gpointer
copy_pending (GstCuvSettings *self)
{
  gpointer copy;

  GST_OBJECT_LOCK (self->element);
  copy = gst_cuv_settings_copy (self->table, self->pending);
  GST_OBJECT_UNLOCK (self->element);
  return copy;
}

/* Call with the object lock held. Updates a copy of the pending settings with
 * the properties without a parser, which may have been set since the copy was
 * made: a controller does not wait while a file is loaded. */
static void
update_copy (GstCuvSettings *self, gpointer copy)
{
  for (guint i = 0; i < self->table->n; i++) {
    const GstCuvSetting *setting = &self->table->list[i];
    GValue value = G_VALUE_INIT;

    if (setting->parse != NULL || setting->get != NULL)
      continue;
    g_value_init (&value, gst_cuv_setting_type (setting));
    gst_cuv_setting_fetch (
        setting, gst_cuv_setting_field (self->pending, setting), &value);
    gst_cuv_setting_store (
        setting, gst_cuv_setting_field (copy, setting), &value);
    g_value_unset (&value);
  }
}

/* Replaces the pending settings by their changed copy. */
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
  gst_cuv_settings_free (self->table, before);
}

static void
set_parsed (
    GstCuvSettings *self, const GstCuvSetting *setting, const GValue *value)
{
  gchar *problem = NULL;
  gpointer copy;

  g_mutex_lock (&self->changing);
  copy = copy_pending (self);
  if (gst_cuv_setting_store (
          setting, gst_cuv_setting_field (copy, setting), value)
      && self->started)
    problem = setting->parse (copy);
  if (problem == NULL)
    replace_pending (self, copy);
  g_mutex_unlock (&self->changing);
  if (problem == NULL)
    return;
  post_problem (self, setting, copy, TRUE, verdict_of (setting), problem);
  gst_cuv_settings_free (self->table, copy);
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
  gst_cuv_setting_store (setting, gst_cuv_setting_field (copy, setting), value);
  post_problem (self, setting, copy, TRUE, "cannot be set now",
      g_strdup ("it can be changed only in the states NULL and READY"));
  gst_cuv_settings_free (self->table, copy);
  return TRUE;
}

gboolean
gst_cuv_settings_start (GstCuvSettings *self)
{
  const GstCuvSettingsTable *table = self->table;
  gchar *problem = NULL;
  gpointer copy;
  guint i;

  g_atomic_int_set (&self->error_posted, FALSE);
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
  post_problem (self, &table->list[i - 1], copy, FALSE,
      verdict_of (&table->list[i - 1]), problem);
  gst_cuv_settings_free (table, copy);
  return FALSE;
}

void
gst_cuv_settings_stop (GstCuvSettings *self)
{
  g_mutex_lock (&self->changing);
  GST_OBJECT_LOCK (self->element);
  self->started = self->has_in_force = FALSE;
  gst_cuv_settings_free_parsed (self->table, self->pending);
  gst_cuv_settings_free_parsed (self->table, self->in_force);
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

/* Keeps the settings in force, which are prepared again, as frames may have
 * another size. Posts the problem of the pending ones. */
static gboolean
keep_in_force (GstCuvSettings *self, GstCuvSettingsUse use, gconstpointer data,
    const gchar *problem)
{
  const gboolean is_resource = self->is_resource_problem;
  const GQuark domain = is_resource ? GST_RESOURCE_ERROR : GST_LIBRARY_ERROR;
  const gint code = is_resource ? (gint) GST_RESOURCE_ERROR_FAILED
                                : (gint) GST_LIBRARY_ERROR_SETTINGS;
  gchar *other = NULL, *text;
  gboolean kept = self->has_in_force;

  if (kept)
    other = use_settings (self, self->in_force, use, data);
  kept = kept && other == NULL;
  g_free (other);
  text = g_strdup_printf (
      "%s.%s", problem, kept ? " The previous settings stay in force." : "");
  gst_element_message_full (self->element,
      kept ? GST_MESSAGE_WARNING : GST_MESSAGE_ERROR, domain, code, text, NULL,
      __FILE__, GST_FUNCTION, __LINE__);
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
  candidate = gst_cuv_settings_copy (self->table, self->pending);
  GST_OBJECT_UNLOCK (self->element);
  self->is_resource_problem = FALSE;
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
  gst_cuv_settings_free (self->table, candidate);
  return ok;
}

gboolean
gst_cuv_settings_apply_changes (
    GstCuvSettings *self, GstCuvSettingsUse use, gconstpointer data)
{
  return (self->has_in_force && !gst_cuv_settings_changed (self))
      || gst_cuv_settings_apply (self, use, data);
}

/* ---- GObject ---- */

static GQuark
settings_quark (void)
{
  return gst_cuv_quark ("gst-cuv-settings");
}

GstCuvSettings *
gst_cuv_settings_of (gpointer element)
{
  return g_object_get_qdata (element, settings_quark ());
}

gboolean
gst_cuv_settings_start_all (gpointer element)
{
  for (GstCuvSettings *self = gst_cuv_settings_of (element); self != NULL;
       self = self->parent) {
    if (!gst_cuv_settings_start (self))
      return FALSE;
  }
  return TRUE;
}

void
gst_cuv_settings_stop_all (gpointer element)
{
  for (GstCuvSettings *self = gst_cuv_settings_of (element); self != NULL;
       self = self->parent)
    gst_cuv_settings_stop (self);
}

/* Returns the settings of the class that installed the property. */
static GstCuvSettings *
settings_with (gpointer element, const GParamSpec *pspec)
{
  const GstCuvSettingsTable *table =
      g_type_get_qdata (pspec->owner_type, settings_quark ());
  GstCuvSettings *self = gst_cuv_settings_of (element);

  while (self->table != table)
    self = self->parent;
  return self;
}

static void
set_property (GObject *object, guint id, const GValue *value, GParamSpec *pspec)
{
  GstCuvSettings *self = settings_with (object, pspec);
  const GstCuvSetting *setting = &self->table->list[id - 1];

  if (setting->only_stopped && refused_while_started (self, setting, value))
    return;
  if (setting->parse != NULL) {
    set_parsed (self, setting, value);
    return;
  }
  GST_OBJECT_LOCK (object);
  /* controllers set properties for every frame: only a change counts */
  if (gst_cuv_setting_store (
          setting, gst_cuv_setting_field (self->pending, setting), value))
    self->serial++;
  GST_OBJECT_UNLOCK (object);
}

static void
get_property (GObject *object, guint id, GValue *value, GParamSpec *pspec)
{
  GstCuvSettings *self = settings_with (object, pspec);
  const GstCuvSetting *setting = &self->table->list[id - 1];

  if (setting->get != NULL) {
    setting->get (GST_ELEMENT (object), value);
    return;
  }
  GST_OBJECT_LOCK (object);
  gst_cuv_setting_fetch (
      setting, gst_cuv_setting_field (self->pending, setting), value);
  GST_OBJECT_UNLOCK (object);
}

/* Drops "State change failed and some element failed to post a proper error
 * message" after an error of our own: gst-launch-1.0 would print both. */
static gboolean
post_message (GstElement *element, GstMessage *message)
{
  GstCuvSettings *self = gst_cuv_settings_of (element);
  gboolean drop = FALSE;

  if (self != NULL && GST_MESSAGE_TYPE (message) == GST_MESSAGE_ERROR) {
    GError *error;

    gst_message_parse_error (message, &error, NULL);
    drop = g_atomic_int_get (&self->error_posted)
        && g_error_matches (error, GST_CORE_ERROR, GST_CORE_ERROR_STATE_CHANGE);
    g_error_free (error);
    g_atomic_int_set (&self->error_posted, TRUE);
  }
  if (!drop)
    return gst_cuv_post_in_turn (element, message);
  gst_message_unref (message);
  return TRUE;
}

void
gst_cuv_settings_class_install (
    GObjectClass *klass, const GstCuvSettingsTable *table)
{
  g_type_set_qdata (
      G_TYPE_FROM_CLASS (klass), settings_quark (), (gpointer) table);
  klass->set_property = set_property;
  klass->get_property = get_property;
  GST_ELEMENT_CLASS (klass)->post_message = post_message;
  for (guint i = 0; i < table->n; i++)
    g_object_class_install_property (
        klass, i + 1, gst_cuv_setting_make_spec (&table->list[i]));
}

static void
clear_all (gpointer settings)
{
  for (GstCuvSettings *self = settings; self != NULL; self = self->parent) {
    gst_cuv_settings_free (self->table, self->pending);
    gst_cuv_settings_free (self->table, self->in_force);
    g_mutex_clear (&self->changing);
  }
}

void
gst_cuv_settings_init (
    GstCuvSettings *self, gpointer element, const GstCuvSettingsTable *table)
{
  self->element = element;
  self->table = table;
  self->parent = g_object_steal_qdata (element, settings_quark ());
  g_object_set_qdata_full (element, settings_quark (), self, clear_all);
  self->pending = g_malloc0 (table->size);
  g_mutex_init (&self->changing);
  for (guint i = 0; i < table->n; i++) {
    if (table->list[i].get == NULL)
      gst_cuv_setting_store_default (&table->list[i],
          gst_cuv_setting_field (self->pending, &table->list[i]));
  }
  self->in_force = gst_cuv_settings_copy (table, self->pending);
}
