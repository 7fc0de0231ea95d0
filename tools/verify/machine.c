/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Prints the names of processor, GPU and driver, as the kernel gives them. */
#include "verify.h"

#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>

#include "cuvfile.h"

#define DRIVER "/proc/driver/nvidia"

/* Returns the text after "key ... :" in a file, or NULL. */
static gchar *
read_named_value (const gchar *path, const gchar *key)
{
  gchar *text = NULL, *line, *colon = NULL, *value = NULL;

  if (!cuv_file_read (path, CUV_FILE_MAX_TEXT, &text, NULL, NULL))
    return NULL;
  line = strstr (text, key);
  if (line != NULL)
    colon = strchr (line, ':');
  if (colon != NULL)
    value = g_strstrip (g_strndup (colon + 1, strcspn (colon + 1, "\n")));
  g_free (text);
  return value;
}

/* Prints a line per GPU of NVIDIA. */
static void
print_gpus (void)
{
  GDir *gpus = g_dir_open (DRIVER "/gpus", 0, NULL);
  const gchar *name;

  while (gpus != NULL && (name = g_dir_read_name (gpus)) != NULL) {
    gchar *path = g_build_filename (DRIVER "/gpus", name, "information", NULL);
    gchar *model = read_named_value (path, "Model");

    printf ("GPU: %s\n", model != NULL ? model : "unknown");
    g_free (model);
    g_free (path);
  }
  if (gpus == NULL)
    printf ("GPU: none of NVIDIA\n");
  g_clear_pointer (&gpus, g_dir_close);
}

void
verify_machine_print (void)
{
  gchar *processor = read_named_value ("/proc/cpuinfo", "model name");
  gchar *driver = read_named_value (DRIVER "/version", "NVRM version");
  struct utsname machine;

  uname (&machine);
  printf ("processor: %s, %s, %u cores\n",
      processor != NULL ? processor : "unknown", machine.machine,
      g_get_num_processors ());
  print_gpus ();
  printf ("driver: %s\n", driver != NULL ? driver : "none");
  g_free (processor);
  g_free (driver);
}
