/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Tests of the messages that a broker retains. */
#include <string.h>
#include "cuvelements.h"
#include "output/retained.h"
#include "output/topic.h"

#define INTERVAL 100

static void
set (CuvRetained *retained, const gchar *topic, const gchar *text, gint64 now)
{
  cuv_retained_set (retained, topic, text, INTERVAL, now);
}

/* Takes the next message, which must be this one; NULL: none may be due. */
static guint64
take (CuvRetained *retained, gint64 now, gboolean flush, const gchar *expected)
{
  CuvMessage message = { 0 };
  guint64 number = 0;
  g_autofree gchar *found = NULL;

  if (cuv_retained_take (retained, now, flush, &message, &number))
    found = g_strdup_printf (
        "%s=%.*s", message.topic, (int) message.size, message.text);
  fail_unless_equals_string (found, expected);
  cuv_message_clear (&message);
  return number;
}

static void
send (CuvRetained *retained, gint64 now, const gchar *expected)
{
  guint64 number = take (retained, now, FALSE, expected);

  fail_unless (cuv_retained_answered (retained, number, FALSE, now) != NULL);
}

CUV_TEST (test_newest_after_the_interval)
{
  CuvRetained *retained = cuv_retained_new ();
  guint64 number;

  set (retained, "t", "a", 1000);
  fail_unless_equals_int64 (cuv_retained_due (retained), 1000);
  number = take (retained, 1000, FALSE, "t=a");
  fail_unless ((number & CUV_RETAINED_NUMBER) != 0);
  set (retained, "t", "b", 1010);
  take (retained, 5000, TRUE, NULL); /* in flight */
  set (retained, "t", "c", 1020);
  fail_unless_equals_string (
      cuv_retained_answered (retained, number, FALSE, 1030), "t");
  fail_unless_equals_int64 (cuv_retained_due (retained), 1000 + INTERVAL);
  take (retained, 1000 + INTERVAL - 1, FALSE, NULL);
  set (retained, "t", "d", 1090);
  fail_if (cuv_retained_is_sent (retained));
  send (retained, 1000 + INTERVAL, "t=d");
  fail_unless (cuv_retained_is_sent (retained));
  set (retained, "t", "e", 1110);
  take (retained, 1110, FALSE, NULL);
  take (retained, 1110, TRUE, "t=e");
  cuv_retained_free (retained);
}

CUV_TEST (test_same_text)
{
  CuvRetained *retained = cuv_retained_new ();

  set (retained, "t", "a", 0);
  send (retained, 0, "t=a");
  set (retained, "t", "a", 1000);
  fail_unless (cuv_retained_is_sent (retained));
  fail_unless_equals_int64 (cuv_retained_due (retained), G_MAXINT64);
  cuv_retained_free (retained);
}

/* The next message is the one that has waited longest; at most a window of them
 * is in flight. */
CUV_TEST (test_order_and_window)
{
  CuvRetained *retained = cuv_retained_new ();
  guint64 oldest = 0;

  for (guint i = 0; i < CUV_RETAINED_WINDOW + 2; i++) {
    g_autofree gchar *topic = g_strdup_printf ("%u", 1000 - i);

    set (retained, topic, "x", i);
  }
  for (guint i = 0; i < CUV_RETAINED_WINDOW; i++) {
    g_autofree gchar *expected = g_strdup_printf ("%u=x", 1000 - i);
    guint64 number = take (retained, 1000, FALSE, expected);

    oldest = i == 0 ? number : oldest;
  }
  take (retained, 1000, TRUE, NULL);
  fail_unless_equals_int64 (cuv_retained_due (retained), G_MAXINT64);
  cuv_retained_answered (retained, oldest, FALSE, 1000);
  take (retained, 1000, FALSE, "968=x");
  cuv_retained_free (retained);
}

/* What waits for the interval does so no longer when it is removed, or after a
 * lost connection. */
CUV_TEST (test_earlier)
{
  CuvRetained *retained = cuv_retained_new ();

  set (retained, "t", "a", 1000);
  send (retained, 1000, "t=a");
  set (retained, "t", "b", 1010);
  cuv_retained_renew (retained, TRUE, 1020);
  send (retained, 1020, "t=b");
  set (retained, "t", "c", 1030);
  take (retained, 1030, FALSE, NULL);
  cuv_retained_set (retained, "t", "", 0, 1040);
  send (retained, 1040, "t=");
  fail_unless_equals_int (cuv_retained_n_topics (retained), 0);
  cuv_retained_free (retained);
}

CUV_TEST (test_removal)
{
  CuvRetained *retained = cuv_retained_new ();
  guint64 number;

  set (retained, "t", "a", 0);
  send (retained, 0, "t=a");
  set (retained, "t", "", 500);
  number = take (retained, 500, FALSE, "t=");
  fail_unless_equals_int (cuv_retained_n_topics (retained), 1);
  set (retained, "t", "b", 510); /* it is back */
  cuv_retained_answered (retained, number, FALSE, 520);
  send (retained, 600, "t=b");
  set (retained, "t", "", 700);
  send (retained, 700, "t=");
  fail_unless_equals_int (cuv_retained_n_topics (retained), 0);
  cuv_retained_free (retained);
}

/* Takes a message, of any topic. */
static guint64
take_any (CuvRetained *retained, gint64 now)
{
  CuvMessage message;
  guint64 number;

  fail_unless (cuv_retained_take (retained, now, FALSE, &message, &number));
  cuv_message_clear (&message);
  return number;
}

CUV_TEST (test_lost_connection)
{
  CuvRetained *retained = cuv_retained_new ();
  guint64 number;

  set (retained, "t", "a", 1000);
  send (retained, 1000, "t=a");
  set (retained, "u", "b", 1001);
  number = take (retained, 1001, FALSE, "u=b");
  cuv_retained_renew (retained, TRUE, 1002);
  fail_unless (cuv_retained_answered (retained, number, FALSE, 1003) == NULL);
  take_any (retained, 1004);
  number = take_any (retained, 1004);
  take (retained, 1004, TRUE, NULL);
  /* renewed while they are in flight */
  cuv_retained_renew (retained, FALSE, 1005);
  take (retained, 1005, TRUE, NULL);
  fail_unless (cuv_retained_answered (retained, number, FALSE, 1006) != NULL);
  number = take_any (retained, 1006);
  /* not sent: again at once */
  cuv_retained_answered (retained, number, TRUE, 1007);
  fail_unless_equals_int64 (cuv_retained_due (retained), 1007);
  cuv_retained_free (retained);
}

/* A broker that loses connections, with and without what it has received, has
 * the newest texts at the end. */
CUV_TEST (test_random)
{
  CuvRetained *retained = cuv_retained_new ();
  GHashTable *set_texts =
      g_hash_table_new_full (g_str_hash, g_str_equal, g_free, g_free);
  GHashTable *broker =
      g_hash_table_new_full (g_str_hash, g_str_equal, g_free, g_free);
  GQueue flight = G_QUEUE_INIT;
  GHashTableIter iter;
  gpointer topic, text;
  gint64 now = 0;

  for (guint i = 0; i < 20000 || !cuv_retained_is_sent (retained); i++) {
    const gint action = g_random_int_range (0, i < 20000 ? 100 : 60);
    CuvMessage message;
    guint64 number;

    now += g_random_int_range (0, 10);
    if (action >= 60 && action < 98) {
      gchar *key = g_strdup_printf ("%d", g_random_int_range (0, 50));
      gchar *value = g_random_int_range (0, 4) == 0
          ? g_strdup ("")
          : g_strdup_printf ("%d", g_random_int_range (0, 5));

      set (retained, key, value, now);
      g_hash_table_insert (set_texts, key, value);
    } else if (action >= 98) {
      cuv_retained_renew (retained, TRUE, now);
      g_queue_clear_full (&flight, g_free);
      if (g_random_boolean ())
        g_hash_table_remove_all (broker);
    } else if (action < 30
        && cuv_retained_take (retained, now, FALSE, &message, &number)) {
      if (g_random_int_range (0, 10) == 0) {
        cuv_retained_answered (retained, number, TRUE, now);
      } else {
        g_hash_table_insert (broker, g_strdup (message.topic),
            g_strndup (message.text, message.size));
        g_queue_push_tail (&flight, g_memdup2 (&number, sizeof number));
      }
      cuv_message_clear (&message);
    } else if (action < 60 && !g_queue_is_empty (&flight)) {
      g_autofree guint64 *oldest = g_queue_pop_head (&flight);

      fail_unless (
          cuv_retained_answered (retained, *oldest, FALSE, now) != NULL);
    }
  }
  g_hash_table_iter_init (&iter, set_texts);
  while (g_hash_table_iter_next (&iter, &topic, &text)) {
    const gchar *found = g_hash_table_lookup (broker, topic);

    fail_unless_equals_string (found != NULL ? found : "", text);
  }
  g_queue_clear_full (&flight, g_free);
  g_hash_table_unref (broker);
  g_hash_table_unref (set_texts);
  cuv_retained_free (retained);
}

static void
expect_level (const gchar *text, const gchar *expected)
{
  GString *level = g_string_new ("x/");

  cuv_topic_append_level (level, text);
  fail_unless_equals_string (level->str + 2, expected);
  g_string_free (level, TRUE);
}

CUV_TEST (test_levels)
{
  expect_level ("door", "door");
  expect_level ("a/b+c#d e%f", "a%2Fb%2Bc%23d%20e%25f");
  expect_level ("\xc3\xbc\xe9\x9b\xa8", "\xc3\xbc\xe9\x9b\xa8");
  expect_level ("\x01\xff\xc3", "%01%FF%C3");
  expect_level ("\xef\xbf\xbe\xc2\x85", "%EF%BF%BE%C2%85"); /* U+FFFE, U+0085 */
  expect_level ("", "");
}
