/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A connection to a message broker. A new kind of broker is one more
 * CuvBrokerClass. All calls but free() come from the outbox's thread. */
#ifndef CUV_BROKER_H
#define CUV_BROKER_H

#include "output/spool.h"

G_BEGIN_DECLS

typedef enum {
  CUV_TLS_NONE,
  CUV_TLS_VERIFY,
  CUV_TLS_INSECURE, /* encrypted, but the broker may be anyone */
} CuvTls;

/* The SASL mechanism for Kafka. */
typedef enum {
  CUV_SASL_PLAIN,
  CUV_SASL_SCRAM_SHA_256,
  CUV_SASL_SCRAM_SHA_512,
} CuvSasl;

typedef enum {
  CUV_MQTT_AUTO, /* 5 where libmosquitto survives any answer to it */
  CUV_MQTT_3_1_1,
  CUV_MQTT_5,
} CuvMqttVersion;

typedef struct {
  gchar *address;
  gchar *client_id;       /* NULL: the broker chooses */
  gchar *user, *password; /* NULL: none */
  CuvSasl sasl;
  CuvTls tls;
  CuvMqttVersion mqtt_version;
  /* PEM files; NULL: the system's authorities, no certificate of our own */
  gchar *ca_file, *certificate_file, *key_file;
  guint keep_alive; /* seconds */
  /* Set by the broker while we are connected, and by our last will when the
   * connection is lost; NULL: none. */
  gchar *status_topic;
} CuvBrokerConfig;

void cuv_broker_config_clear (CuvBrokerConfig *self);

typedef struct _CuvBroker CuvBroker;
typedef struct _CuvOutbox CuvOutbox;

typedef enum {
  CUV_SEND_OK,      /* acknowledged or refused later */
  CUV_SEND_LATER,   /* more are in flight than the broker takes */
  CUV_SEND_REFUSED, /* this message will never be sent */
  CUV_SEND_LOST,    /* the connection is lost */
} CuvSend;

/* An error's message names the cause and, where there is one, the remedy. None
 * contains the password. */
typedef struct {
  guint window; /* most messages in flight */

  /* Begins to connect. May block for as long as TCP does. */
  gboolean (*open) (CuvBroker *self, GError **error);
  /* Sends and does not wait for the answer. */
  CuvSend (*send) (CuvBroker *self, guint64 number, const CuvMessage *message,
      GError **error);
  /* Waits until something happens, at most the given time, and reports it with
   * the functions below; wake_fd, an eventfd, ends the wait. FALSE: the
   * connection is lost. */
  gboolean (*run) (
      CuvBroker *self, int wake_fd, gint milliseconds, GError **error);
  /* orderly: says goodbye. */
  void (*close) (CuvBroker *self, gboolean orderly);
  void (*free) (CuvBroker *self);
} CuvBrokerClass;

struct _CuvBroker {
  const CuvBrokerClass *klass;
  gchar *name;       /* for messages */
  CuvOutbox *outbox; /* set by it */
};

/* Take over the configuration and leave an empty one. NULL and an error if the
 * library is not installed or the configuration cannot be used. */
CuvBroker *cuv_broker_mqtt_new (CuvBrokerConfig *config, GError **error);
CuvBroker *cuv_broker_kafka_new (CuvBrokerConfig *config, GError **error);

/* For run(), in its thread. */
void cuv_outbox_connected (CuvOutbox *self);
/* Nothing is sent until it is connected again; what is in flight still is. */
void cuv_outbox_disconnected (CuvOutbox *self);
/* Connected or not, this is what does not work. */
void cuv_outbox_failed (CuvOutbox *self, const gchar *problem);
/* problem NULL: the broker has the message; else it refused it. */
void cuv_outbox_acknowledged (
    CuvOutbox *self, guint64 number, const gchar *problem);

G_END_DECLS

#endif
