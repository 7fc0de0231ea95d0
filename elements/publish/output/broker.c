/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What both brokers share: their configuration, and what a build without their
 * libraries reports. */
#include "config.h"
#include "output/broker.h"

void
cuv_broker_config_clear (CuvBrokerConfig *self)
{
  g_free (self->address);
  g_free (self->client_id);
  g_free (self->user);
  g_free (self->password);
  g_free (self->ca_file);
  g_free (self->certificate_file);
  g_free (self->key_file);
  g_free (self->status_topic);
  g_free (self->birth_topic);
  *self = (CuvBrokerConfig){ 0 };
}

#if !HAVE_MQTT || !HAVE_KAFKA
static CuvBroker *
not_built (const gchar *name, const gchar *package, GError **error)
{
  g_set_error (error, G_IO_ERROR, G_IO_ERROR_NOT_SUPPORTED,
      "this plugin was built without %s: install %s and build it again", name,
      package);
  return NULL;
}
#endif

#if !HAVE_MQTT
CuvBroker *
cuv_broker_mqtt_new (CuvBrokerConfig *config, GError **error)
{
  return not_built ("libmosquitto", "libmosquitto-dev", error);
}
#endif

#if !HAVE_KAFKA
CuvBroker *
cuv_broker_kafka_new (CuvBrokerConfig *config, GError **error)
{
  return not_built ("librdkafka", "librdkafka-dev", error);
}
#endif
