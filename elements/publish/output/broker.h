/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A connection to a message broker. A new kind of broker is one more
 * CuvBrokerClass. The outbox's thread calls all functions except free(). */
#ifndef CUV_BROKER_H
#define CUV_BROKER_H

#include "output/retained.h"

G_BEGIN_DECLS

typedef enum {
  CUV_TLS_NONE,
  CUV_TLS_VERIFY,
  CUV_TLS_INSECURE, /* encrypted, but the broker is not authenticated */
} CuvTls;

/* The SASL mechanism for Kafka. */
typedef enum {
  CUV_SASL_PLAIN,
  CUV_SASL_SCRAM_SHA_256,
  CUV_SASL_SCRAM_SHA_512,
} CuvSasl;

typedef enum {
  CUV_MQTT_AUTO, /* 5 if libmosquitto survives malformed answers to it */
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
  /* PEM files; NULL: the system's authorities, no client certificate */
  gchar *ca_file, *certificate_file, *key_file;
  guint keep_alive; /* seconds */
  /* Topic where "online" is published, "stopped" at an orderly end, and
   * "lost" by our last will; NULL: none. */
  gchar *status_topic;
  /* Topic where "online" means that a reader of retained messages has started
   * and wants all of them again; NULL: none. */
  gchar *birth_topic;
} CuvBrokerConfig;

void cuv_broker_config_clear (CuvBrokerConfig *self);

typedef struct _CuvBroker CuvBroker;
typedef struct _CuvOutbox CuvOutbox;

typedef enum {
  CUV_SEND_OK,      /* acknowledged or refused later */
  CUV_SEND_LATER,   /* try again: too many messages are in flight */
  CUV_SEND_REFUSED, /* this message will never be sent */
  CUV_SEND_LOST,    /* the connection is lost */
} CuvSend;

/* Error messages name the cause and, if there is one, the fix. None contains
 * the password. */
typedef struct {
  guint window; /* maximum number of messages in flight */

  /* Begins to connect. May block for as long as TCP does. */
  gboolean (*open) (CuvBroker *self, GError **error);
  /* Sends a message; does not wait for the answer. The broker retains messages
   * whose number has CUV_RETAINED_NUMBER. */
  CuvSend (*send) (CuvBroker *self, guint64 number, const CuvMessage *message,
      GError **error);
  /* Waits for at most the given time until something happens, and reports it by
   * the functions below. wake_fd, an eventfd, ends the wait. Returns FALSE if
   * the connection is lost. */
  gboolean (*run) (
      CuvBroker *self, int wake_fd, gint milliseconds, GError **error);
  /* orderly: disconnects as the protocol demands. */
  void (*close) (CuvBroker *self, gboolean orderly);
  void (*free) (CuvBroker *self);
} CuvBrokerClass;

struct _CuvBroker {
  const CuvBrokerClass *klass;
  gchar *name;       /* name for use in messages */
  CuvOutbox *outbox; /* set by the outbox that takes the broker */
};

/* Take ownership of what config contains, and clear it. Return NULL and an
 * error if the library is not installed or the configuration is not valid. */
CuvBroker *cuv_broker_mqtt_new (CuvBrokerConfig *config, GError **error);
CuvBroker *cuv_broker_kafka_new (CuvBrokerConfig *config, GError **error);

/* ---- for run(), in its thread; outbox-answers.c ---- */

void cuv_outbox_connected (CuvOutbox *self);
/* Nothing is sent until the next cuv_outbox_connected(); messages in flight may
 * still be answered. */
void cuv_outbox_disconnected (CuvOutbox *self);
/* Reports a problem, whether there is a connection or not. */
void cuv_outbox_failed (CuvOutbox *self, const gchar *problem);
/* A reader wants the retained messages again. */
void cuv_outbox_renew_retained (CuvOutbox *self);
/* The broker has answered a message: problem is NULL, or why it refused it. */
void cuv_outbox_acknowledged (
    CuvOutbox *self, guint64 number, const gchar *problem);

G_END_DECLS

#endif
