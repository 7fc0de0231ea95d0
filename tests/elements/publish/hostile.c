/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* An MQTT broker that misbehaves in every way, then sends a random packet
 * and closes the connection. Whatever it does, the client continues, and a
 * good broker accepts its message afterwards. */
#include <gio/gio.h>
#include <string.h>

#include "cuvelements.h"
#include "output/broker.h"

#define N_PACKETS 200 /* per mode */
#define MAX_BODY 60
#define RUN_MS 10000 /* more than even a busy machine needs */

/* SILENT: the broker does not even wait for the message. */
typedef enum {
  SILENT,
  NONE,
  ACK,
  ACK_THRICE,
  ACK_OTHER,
  REFUSE,
  RECEIVED,
} Answer;

/* After CONNECT the broker sends `connack`, or a CONNACK with these properties,
 * then `more` bytes; then it answers a message. */
typedef struct {
  const gchar *name;
  Answer answer;
  const gchar *properties;
  gsize size; /* length of properties */
  const gchar *connack;
  gsize connack_size;
  gsize more; /* bytes of packets or garbage after the CONNACK */
  gboolean garbage;
  gboolean huge;  /* allocates 256 MiB, so it is used rarely */
  gboolean clean; /* no random packet */
} Mode;

#define PROPERTIES(text) .properties = text, .size = sizeof (text) - 1
#define CONNACK(text) .connack = text, .connack_size = sizeof (text) - 1

static const Mode good = { "ok", .answer = ACK, .clean = TRUE };
static const Mode closes = { "closes", .answer = NONE, .clean = TRUE };
static const Mode modes[] = {
  { "hang", CONNACK ("") },
  { "garbage", CONNACK (""), .more = 20000, .garbage = TRUE },
  { "connack-huge", CONNACK ("\x20\xff\xff\xff\x7f"), .more = 100000,
      .garbage = TRUE, .huge = TRUE },
  { "connack-bad", CONNACK ("\x20\x03\x00\x87\x00") },
  { "connack-bad-3", CONNACK ("\x20\x02\x00\x05") },
  { "rmax0", .answer = ACK, PROPERTIES ("\x21\x00\x00") },
  { "rmax1", .answer = ACK, PROPERTIES ("\x21\x00\x01") },
  { "qos0", .answer = ACK, PROPERTIES ("\x24\x00") },
  { "maxpacket", .answer = ACK, PROPERTIES ("\x27\x00\x00\x00\x14") },
  { "keepalive1", .answer = ACK, PROPERTIES ("\x13\x00\x01") },
  { "unknownprop", .answer = ACK, PROPERTIES ("\x7f\x00") },
  { "noretain", .answer = ACK, PROPERTIES ("\x25\x00") },
  { "badprops", .answer = ACK, PROPERTIES ("\xff\xff\xff") },
  { "dupprops", .answer = ACK, PROPERTIES ("\x24\x01\x24\x01\x24\x00") },
  { "assigned", .answer = ACK, PROPERTIES ("\x12\x00\x04name") },
  { "assigned-long", CONNACK ("\x20\x86\x80\x04\x00\x00\x82\x80\x04"),
      .more = 65538, .garbage = TRUE },
  { "disconnect", CONNACK ("\x20\x03\x00\x00\x00\xe0\x02\x8b\x00") },
  { "disconnect-3", CONNACK ("\x20\x02\x00\x00\xe0\x00") },
  { "flood", .answer = ACK, .more = 1 << 19 },
  { .name = "noack" },
  { "wrongack", .answer = ACK_OTHER },
  { "doubleack", .answer = ACK_THRICE },
  { "refuse", .answer = REFUSE },
  { "pubrec", .answer = RECEIVED },
};

/* ---- the broker ---- */

typedef struct {
  GSocketListener *listener;
  GThread *thread;
  guint16 port;
  const Mode *mode; /* changes between two connections */
  GRand *random;
  guint packets; /* random packets sent */
  GSocket *socket;
} Fake;

static gboolean
receive (Fake *self, gpointer data, gsize size)
{
  for (gsize done = 0; done < size;) {
    gssize n = g_socket_receive (
        self->socket, (gchar *) data + done, size - done, NULL, NULL);

    if (n <= 0)
      return FALSE;
    done += (gsize) n;
  }
  return TRUE;
}

/* Sends bytes to a client that may have disconnected. */
static void
put (Fake *self, gconstpointer data, gsize size)
{
  for (gsize done = 0; done < size;) {
    gssize n = g_socket_send (
        self->socket, (const gchar *) data + done, size - done, NULL, NULL);

    if (n <= 0)
      return;
    done += (gsize) n;
  }
}

/* Returns the first byte of the next packet, 0 at the end, and copies the
 * beginning of its body. */
static guint8
receive_packet (Fake *self, guint8 body[256])
{
  guint8 type, byte, scratch[256];
  gsize size = 0, n, shift = 0;
  gboolean first = TRUE;

  if (!receive (self, &type, 1))
    return 0;
  do {
    if (!receive (self, &byte, 1))
      return 0;
    size |= (gsize) (byte & 127) << shift;
    shift += 7;
  } while (byte & 128);
  for (; size > 0; size -= n, first = FALSE) {
    n = MIN (size, sizeof scratch);
    if (!receive (self, first ? body : scratch, n))
      return 0;
  }
  return type;
}

static void
put_connack (Fake *self, const Mode *mode, gboolean v5)
{
  guint8 packet[5] = { 0x20, (guint8) (3 + mode->size), 0, 0,
    (guint8) mode->size };

  if (mode->connack != NULL) {
    put (self, mode->connack, mode->connack_size);
  } else if (v5) {
    put (self, packet, 5);
    put (self, mode->properties, mode->size);
  } else {
    put (self, "\x20\x02\x00\x00", 4);
  }
}

static void
put_garbage (Fake *self, gsize size)
{
  g_autofree gchar *bytes = g_malloc (size);

  for (gsize i = 0; i < size; i++)
    bytes[i] = (gchar) g_rand_int (self->random);
  put (self, bytes, size);
}

/* Sends messages that nobody has subscribed to, of QoS 1 and 2. */
static void
put_flood (Fake *self, gsize size)
{
  guint8 packet[1 << 14] = { 0x32, 0xfd, 0x7f, 0, 3, 'x', '/', 'y' };

  for (gsize i = 0; i < size / sizeof packet; i++) {
    packet[0] ^= 6;
    packet[9] = (guint8) (i / 2 + 1);
    put (self, packet, sizeof packet);
  }
}

static void
put_answer (Fake *self, Answer answer, guint8 high, guint8 low)
{
  const guint8 ack[] = { 0x40, 2, high, low }, other[] = { 0x40, 2, low, 77 },
               refusal[] = { 0x40, 3, high, low, 0x87 },
               received[] = { 0x50, 2, high, low };

  if (answer == ACK || answer == ACK_THRICE)
    put (self, ack, sizeof ack);
  if (answer == ACK_THRICE) {
    put (self, ack, sizeof ack);
    put (self, ack, sizeof ack);
  }
  if (answer == ACK_OTHER)
    put (self, other, sizeof other);
  if (answer == REFUSE)
    put (self, refusal, sizeof refusal);
  if (answer == RECEIVED)
    put (self, received, sizeof received);
}

/* Sends a random packet; half of them have a type that a client knows and
 * numbers in use. */
static void
put_random_packet (Fake *self)
{
  static const guint8 types[] = { 0x20, 0x30, 0x32, 0x34, 0x40, 0x50, 0x62,
    0x70, 0x90, 0xb0, 0xd0, 0xe0, 0xf0 };
  gsize size = (gsize) g_rand_int_range (self->random, 0, MAX_BODY + 1);
  guint8 packet[2 + MAX_BODY];
  gboolean plausible = g_rand_boolean (self->random);

  for (gsize i = 0; i < size + 2; i++)
    packet[i] =
        (guint8) g_rand_int_range (self->random, 0, plausible ? 8 : 256);
  if (plausible)
    packet[0] = types[g_rand_int_range (self->random, 0, G_N_ELEMENTS (types))];
  packet[1] = (guint8) size;
  put (self, packet, size + 2);
  self->packets++;
}

/* Reads and answers the status and the message. */
static void
answer_messages (Fake *self, Answer answer)
{
  guint8 body[256] = { 0 }, type;
  guint n = 0;

  while (n < 2 && (type = receive_packet (self, body)) != 0) {
    guint topic = body[0] << 8 | body[1];

    if (type >> 4 != 3)
      continue;
    put_answer (self, answer, body[topic + 2], body[topic + 3]);
    n++;
  }
}

static void
serve (Fake *self)
{
  const Mode *mode = g_atomic_pointer_get (&self->mode);
  guint8 body[256] = { 0 };
  gboolean v5;

  if (receive_packet (self, body) != 0x10)
    return;
  v5 = body[6] == 5;
  put_connack (self, mode, v5);
  if (mode->garbage)
    put_garbage (self, mode->more);
  else
    put_flood (self, mode->more);
  /* properties may keep the client from sending */
  if (mode->answer != SILENT && (!v5 || mode->size == 0))
    answer_messages (self, mode->answer);
  if (!mode->clean)
    put_random_packet (self);
  g_socket_shutdown (self->socket, FALSE, TRUE, NULL);
  while (receive_packet (self, body) != 0) {
  }
}

static gpointer
run_broker (gpointer data)
{
  Fake *self = data;

  while ((self->socket = g_socket_listener_accept_socket (
              self->listener, NULL, NULL, NULL))
      != NULL) {
    if (g_atomic_pointer_get (&self->mode) == NULL) { /* the test ends */
      g_object_unref (self->socket);
      break;
    }
    serve (self);
    g_object_unref (self->socket);
  }
  return NULL;
}

/* ---- the outbox ---- */

static guint n_connected, n_acknowledged;

void
cuv_outbox_connected (CuvOutbox *self)
{
  n_connected++;
}

void
cuv_outbox_disconnected (CuvOutbox *self)
{
}

void
cuv_outbox_failed (CuvOutbox *self, const gchar *problem)
{
}

void
cuv_outbox_renew_retained (CuvOutbox *self)
{
}

void
cuv_outbox_acknowledged (CuvOutbox *self, guint64 number, const gchar *problem)
{
  fail_unless_equals_uint64 (number, 7);
  n_acknowledged++;
}

/* ---- the client ---- */

static CuvBroker *
client_new (guint16 port)
{
  CuvBrokerConfig config = { .address = g_strdup_printf ("127.0.0.1:%u", port),
    .keep_alive = 60,
    .status_topic = g_strdup ("status"),
    .birth_topic = g_strdup ("birth") };
  GError *error = NULL;
  CuvBroker *broker = cuv_broker_mqtt_new (&config, &error);

  g_assert_no_error (error);
  return broker;
}

/* Serves one connection, with one message, until it ends. Returns the
 * outcome of the message; CUV_SEND_LATER if it was not sent. */
static CuvSend
connect_once (CuvBroker *client)
{
  static const CuvMessage message = { "topic", "", "text", 4 };
  guint connected = n_connected;
  CuvSend outcome = CUV_SEND_LATER;
  GError *error = NULL;
  gboolean ok = client->klass->open (client, &error);

  while (ok) {
    ok = client->klass->run (client, -1, RUN_MS, &error);
    if (ok && outcome == CUV_SEND_LATER && n_connected > connected) {
      outcome = client->klass->send (client, 7, &message, &error);
      ok = outcome == CUV_SEND_OK;
    }
  }
  fail_unless (error != NULL && error->message[0] != '\0');
  fail_unless (outcome != CUV_SEND_REFUSED
      || strstr (error->message, "one particular record (4 bytes)") != NULL);
  g_clear_error (&error);
  client->klass->close (client, FALSE);
  return outcome;
}

static void
fake_start (Fake *self, const Mode *mode)
{
  GError *error = NULL;

  *self = (Fake){ .listener = g_socket_listener_new (),
    .random = g_rand_new_with_seed (g_random_int ()),
    .mode = mode };
  self->port =
      g_socket_listener_add_any_inet_port (self->listener, NULL, &error);
  g_assert_no_error (error);
  self->thread = g_thread_new ("broker", run_broker, self);
}

static void
fake_stop (Fake *self)
{
  CuvBroker *client = client_new (self->port);

  g_atomic_pointer_set (&self->mode, NULL);
  fail_unless (client->klass->open (client, NULL));
  g_thread_join (self->thread);
  client->klass->close (client, FALSE);
  client->klass->free (client);
  g_socket_listener_close (self->listener);
  g_object_unref (self->listener);
  g_rand_free (self->random);
}

CUV_TEST (test_all_modes)
{
  guint n_packets = 0;
  Fake fake;

  fake_start (&fake, modes);
  for (guint i = 0; i < G_N_ELEMENTS (modes); i++) {
    guint n = modes[i].huge ? 3 : N_PACKETS;
    CuvBroker *client;

    for (guint k = 0; k < n; k++) {
      client = client_new (fake.port);
      g_atomic_pointer_set (&fake.mode, &modes[i]);
      connect_once (client);
      if (k == n - 1) {
        g_atomic_pointer_set (&fake.mode, &good);
        n_acknowledged = 0;
        connect_once (client);
        fail_unless_equals_int (n_acknowledged, 1);
      }
      client->klass->free (client);
    }
    n_packets += n;
  }
  fake_stop (&fake);
  fail_unless_equals_int (fake.packets, n_packets);
}

/* A message for which the broker closes the connection each time is dropped,
 * because it would block all others. */
CUV_TEST (test_fatal_message)
{
  CuvBroker *client;
  Fake fake;

  fake_start (&fake, &closes);
  client = client_new (fake.port);
  for (guint i = 0; i < 6; i++)
    fail_unless_equals_int (connect_once (client), CUV_SEND_OK);
  fail_unless_equals_int (connect_once (client), CUV_SEND_REFUSED);
  /* the next one is tried again, but not as often */
  for (guint i = 0; i < 3; i++)
    fail_unless_equals_int (connect_once (client), CUV_SEND_OK);
  fail_unless_equals_int (connect_once (client), CUV_SEND_REFUSED);
  g_atomic_pointer_set (&fake.mode, &good);
  n_acknowledged = 0;
  fail_unless_equals_int (connect_once (client), CUV_SEND_OK);
  fail_unless_equals_int (n_acknowledged, 1);
  client->klass->free (client);
  fake_stop (&fake);
}
