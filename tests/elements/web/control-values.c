/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Messages, descriptions and values of visionwebsink's controls. */
#include "controlled.h"
#include "controls/message.h"

/* ---- messages ---- */

CUV_TEST (bad_messages)
{
  static const gchar *const cases[][2] = {
    { "", "" },
    { "x", "" },
    { "[]", "not a JSON object" },
    { "{}", "type must be set, call" },
    { "{'type':'set'}", "single quotes" },
    { "{\"type\":\"get\"}", "type must be set, call" },
    { "{\"type\":5}", "type must be set, call" },
    { "{\"type\":\"set\"}", "id must be" },
    { "{\"type\":\"set\",\"id\":-1}", "id must be" },
    { "{\"type\":\"set\",\"id\":1.5}", "id must be" },
    { "{\"type\":\"set\",\"id\":99999999999999999999}", "out of range" },
    { "{\"type\":\"set\",\"id\":1}", "control must be" },
    { "{\"type\":\"set\",\"id\":1,\"control\":null,\"value\":1}",
        "control must be" },
    { "{\"type\":\"set\",\"id\":1,\"control\":\"a\"}", "it must have" },
    { "{\"type\":\"set\",\"id\":1,\"control\":\"a\",\"value\":1,\"x\":1}",
        "it must have" },
    { "{\"type\":\"set\",\"id\":1,\"control\":\"a\",\"value\":{}}",
        "value must be" },
    { "{\"type\":\"set\",\"id\":1,\"control\":\"a\",\"value\":null}",
        "value must be" },
    { "{\"type\":\"set\",\"id\":1,\"control\":\"a\",\"value\":[[1]]}",
        "value must be" },
    { "{\"type\":\"set\",\"id\":1,\"control\":\"a\",\"value\":NaN}", "" },
    { "{\"type\":\"set\",\"id\":1,\"control\":\"a\",\"value\":Infinity}", "" },
    { "{\"type\":\"set\",\"id\":1,\"control\":\"a\",\"value\":1e999}",
        "out of range" },
    { "{\"type\":\"set\",\"id\":1,\"control\":\"a\",\"value\":\"\xff\"}",
        "not UTF-8" },
    { "{\"type\":\"call\",\"id\":1,\"control\":\"a\",\"arguments\":1}",
        "arguments must be" },
    { "{\"type\":\"call\",\"id\":1,\"control\":\"a\",\"arguments\":[{}]}",
        "arguments must be" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    CuvControlMessage message;
    g_autofree gchar *problem =
        cuv_control_message_parse (&message, cases[i][0], strlen (cases[i][0]));

    fail_unless (problem != NULL, "accepted: %s", cases[i][0]);
    fail_unless (
        strstr (problem, cases[i][1]) != NULL, "%s: %s", cases[i][0], problem);
    cuv_control_message_clear (&message);
  }
}

CUV_TEST (deep_and_long_messages)
{
  g_autoptr (GString) text = g_string_new ("{\"a\":");
  CuvControlMessage message;
  gchar *problem;

  for (guint i = 0; i < 30000; i++)
    g_string_append_c (text, '[');
  problem = cuv_control_message_parse (&message, text->str, text->len);
  fail_unless (strstr (problem, "levels deep") != NULL, "%s", problem);
  g_free (problem);
  g_string_assign (text,
      "{\"type\":\"call\",\"id\":1,\"control\":\"a\","
      "\"arguments\":[0");
  for (guint i = 0; i < 30000; i++)
    g_string_append (text, ",0");
  g_string_append (text, "]}");
  problem = cuv_control_message_parse (&message, text->str, text->len);
  fail_unless (strstr (problem, "more than") != NULL, "%s", problem);
  g_free (problem);
  problem = cuv_control_message_parse (&message, "{\0}", 3);
  fail_unless_equals_string (problem, "it has a zero byte");
  g_free (problem);
}

CUV_TEST (good_messages)
{
  static const gchar text[] = "{\"type\":\"call\",\"id\":7,\"control\":\"a.b\","
                              "\"arguments\":[1,\"x\",true]}";
  CuvControlMessage message;

  fail_unless (
      cuv_control_message_parse (&message, text, strlen (text)) == NULL);
  fail_unless_equals_int (message.action, CUV_CONTROL_CALL);
  fail_unless_equals_int64 (message.id, 7);
  fail_unless_equals_string (message.control, "a.b");
  fail_unless_equals_int (
      json_array_get_length (json_node_get_array (message.value)), 3);
  cuv_control_message_clear (&message);
}

/* ---- descriptions and values ---- */

#define DESCRIBED(name, rest)                                                  \
  "3: {\"can_save\":false,\"controls\":[{\"blurb\":\"What " name               \
  " is\",\"control\":\"e." name "\"," rest "}],\"type\":\"controls\"}"
#define COMMON(name) "\"element\":\"e\",\"factory\":\"TestElement\","
#define NAMES(name) "\"name\":\"" name "\",\"nick\":\"" name "\""

static void
expect_description (const gchar *name, const gchar *expected)
{
  g_autofree gchar *control = g_strconcat ("e.", name, NULL);
  Line line;

  line_start (&line, control);
  skip_description ();
  cuv_controls_join (line.controls, line.client.id);
  expect_text (expected);
  line_stop (&line);
}

CUV_TEST (descriptions)
{
  expect_description ("int",
      DESCRIBED ("int",
          "\"default\":1," COMMON (
              "int") "\"maximum\":5,"
                     "\"minimum\":-5," NAMES (
                         "int") ","
                                "\"type\":\"integer\",\"value\":1"));
  expect_description ("uint64",
      DESCRIBED ("uint64",
          "\"default\":2," COMMON (
              "uint64") "\"maximum\":9223372036854775807,"
                        "\"minimum\":2," NAMES (
                            "uint64") ","
                                      "\"type\":\"integer\",\"value\":2"));
  expect_description ("float",
      DESCRIBED ("float",
          "\"default\":0.3," COMMON (
              "float") "\"maximum\":0.7,"
                       "\"minimum\":0.1," NAMES (
                           "float") ",\"type\":\"number\","
                                    "\"value\":0.3"));
  expect_description ("boolean",
      DESCRIBED ("boolean",
          "\"default\":true," COMMON ("boolean")
              NAMES ("boolean") ",\"type\":\"boolean\","
                                "\"value\":true"));
  expect_description ("string",
      DESCRIBED ("string",
          "\"default\":\"a\"," COMMON ("string")
              NAMES ("string") ",\"type\":\"text\","
                               "\"value\":\"a\""));
}

CUV_TEST (descriptions_of_choices)
{
  Line line;

  line_start (&line, "e.enum,e.flags,e.add,none.x");
  expect_part ("{\"nick\":\"bytes\",\"text\":\"GST_FORMAT_BYTES\"}");
  cuv_controls_join (line.controls, 3);
  expect_part ("\"type\":\"flags\",\"value\":[\"flush\"]");
  cuv_controls_join (line.controls, 3);
  expect_part ("{\"arguments\":[{\"maximum\":2147483647,\"minimum\":"
               "-2147483648,\"type\":\"integer\"},{");
  cuv_controls_join (line.controls, 3);
  expect_part ("{\"control\":\"none.x\",\"element\":\"none\",\"name\":\"x\","
               "\"type\":\"missing\"}");
  line_stop (&line);
}

CUV_TEST (values_in_range)
{
  static const gchar *const cases[][3] = {
    { "int", "-5", "-5" },
    { "int", "4.0", "4" },
    { "negative", "-2", "-2" },
    { "uint", "4294967295", "4294967295" },
    { "int64", "-9223372036854775808", "-9223372036854775808" },
    { "uint64", "9223372036854775807", "9223372036854775807" },
    { "uchar", "200", "200" },
    { "float", "0.1", "0.1" },
    { "float", "0.7", "0.7" },
    { "double", "-1e300", "-1e+300" },
    { "double", "3", "3.0" },
    { "boolean", "false", "false" },
    { "string", "\"\\u00e4\\n\\\"\"", "\"ä\\n\\\"\"" },
    { "string", "\"\"", "\"\"" },
    { "enum", "\"bytes\"", "\"bytes\"" },
    { "flags", "[\"flush\",\"accurate\"]", "[\"flush\",\"accurate\"]" },
    { "flags", "[]", "[]" },
    { "controllable", "5", "5" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_autofree gchar *control = g_strconcat ("e.", cases[i][0], NULL);
    g_autofree gchar *values =
        g_strdup_printf ("0: {\"type\":\"values\",\"values\":{\"%s\":%s}}",
            control, cases[i][2]);
    g_autofree gchar *done = g_strdup_printf ("3: {\"control\":\"%s\",\"id\":1,"
                                              "\"type\":\"done\",\"value\":%s}",
        control, cases[i][2]);
    Line line;

    line_start (&line, control);
    skip_description ();
    fail_unless_equals_string (line_set (&line, 1, control, cases[i][1]), NULL);
    expect_text (values);
    expect_text (done);
    line_stop (&line);
  }
}

CUV_TEST (values_out_of_range)
{
  static const gchar *const cases[][3] = {
    { "int", "6", "expected a whole number from -5 to 5" },
    { "int", "-6", "from -5 to 5" },
    { "int", "1.5", "a whole number" },
    { "int", "1e30", "a whole number" },
    { "int", "\"1\"", "a whole number" },
    { "int", "true", "a whole number" },
    { "int", "[1]", "a single value" },
    { "negative", "0", "from -9 to -2" },
    { "uint", "-1", "from 0 to 4294967295" },
    { "uint", "4294967296", "from 0 to 4294967295" },
    { "uint64", "1", "from 2 to" },
    { "uchar", "201", "from 0 to 200" },
    { "float", "0.71", "expected a number from 0.1 to 0.7" },
    { "float", "1e200", "from 0.1 to 0.7" },
    { "double", "\"NaN\"", "expected a number" },
    { "boolean", "1", "expected true or false" },
    { "boolean", "\"true\"", "expected true or false" },
    { "string", "1", "expected a text" },
    { "string", "\"\\ud800\"", "" },
    { "enum", "\"GST_FORMAT_BYTES\"", "expected one of undefined, default" },
    { "enum", "2", "expected one of" },
    { "flags", "\"flush\"", "expected a list" },
    { "flags", "[\"flush\",\"x\"]", "expected a list" },
    { "flags", "[1]", "expected a list" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_autofree gchar *control = g_strconcat ("e.", cases[i][0], NULL);
    Line line;

    line_start (&line, control);
    expect_refused (line_set (&line, 1, control, cases[i][1]), cases[i][2]);
    line_stop (&line);
  }
}
