/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Chooses GPU or CPU, threads and memory of this rank. */
#include "search-tool.h"

#include <string.h>
#include <unistd.h>
#include "scan/scan.h"

static gint n_devices; /* GPUs of this machine */

/* Returns the rank's share of the cores, or fewer if the launcher bound it to
 * fewer. */
static gint
count_threads (const SearchOptions *options)
{
  const gint cores = (gint) sysconf (_SC_NPROCESSORS_ONLN);
  const gint share = MAX (cores / ranks.n_local, 1);

  return options->n_threads > 0 ? options->n_threads
                                : MIN (share, (gint) g_get_num_processors ());
}

/* Chooses a processor: the ranks of a machine are assigned to its GPUs in
 * turn. */
gchar *
device_choose (const SearchOptions *options, CuvProcessor *processor)
{
  const char *problem = NULL;

  *processor = (CuvProcessor){ .n_threads = count_threads (options) };
  if (options->device == DEVICE_CPU)
    return NULL;
  problem = cuv_ldp_scan_set_device (ranks.i_local, &n_devices);
  if (problem == NULL)
    problem = cuv_ldp_scan_probe_cuda ();
  processor->on_device = problem == NULL;
  if (problem == NULL || options->device == DEVICE_AUTO)
    return NULL;
  return g_strdup_printf (
      "--device cuda: %s; --device cpu gives the same results", problem);
}

gsize
device_read_size (const gchar *path, const gchar *key)
{
  gchar *text = NULL;
  const gchar *line;
  gsize kilobytes = 0;

  if (!g_file_get_contents (path, &text, NULL, NULL))
    return 0;
  line = strstr (text, key);
  if (line != NULL)
    kilobytes = g_ascii_strtoull (line + strlen (key), NULL, 10);
  g_free (text);
  return kilobytes << 10;
}

static gsize
read_limit (const gchar *folder, const gchar *file)
{
  gchar *path = g_build_filename (folder, file, NULL);
  gchar *text = NULL;
  gsize bytes = G_MAXSIZE;

  if (g_file_get_contents (path, &text, NULL, NULL)
      && g_ascii_isdigit (text[0]))
    bytes = g_ascii_strtoull (text, NULL, 10);
  g_free (text);
  g_free (path);
  return bytes;
}

/* Returns the smallest limit of a control group and its parents. */
static gsize
limit_of (const gchar *root, const gchar *group, const gchar *file)
{
  gchar *folder = g_build_filename (root, group, NULL);
  gsize limit = G_MAXSIZE;

  while (strlen (folder) >= strlen (root)) {
    gchar *parent = g_path_get_dirname (folder);

    limit = MIN (limit, read_limit (folder, file));
    g_free (folder);
    folder = parent;
  }
  g_free (folder);
  return limit;
}

/* Returns the bytes that a container or a scheduler such as Slurm allows the
 * process. /proc/self/cgroup has "0::GROUP" for version 2, "N:memory:GROUP" for
 * 1. */
static gsize
read_group_limit (void)
{
  gchar *text = NULL, **lines;
  gsize limit = G_MAXSIZE;

  if (!g_file_get_contents ("/proc/self/cgroup", &text, NULL, NULL))
    return limit;
  lines = g_strsplit (text, "\n", -1);
  for (gchar **line = lines; *line != NULL; line++) {
    gchar **parts = g_strsplit (*line, ":", 3);

    if (g_strv_length (parts) == 3 && parts[1][0] == 0)
      limit = MIN (limit, limit_of ("/sys/fs/cgroup", parts[2], "memory.max"));
    else if (g_strv_length (parts) == 3 && g_str_equal (parts[1], "memory"))
      limit = MIN (limit,
          limit_of (
              "/sys/fs/cgroup/memory", parts[2], "memory.limit_in_bytes"));
    g_strfreev (parts);
  }
  g_strfreev (lines);
  g_free (text);
  return limit;
}

static gsize
read_free_memory (void)
{
  return MIN (
      device_read_size ("/proc/meminfo", "MemAvailable:"), read_group_limit ());
}

/* Measures free memory after every rank has created its CUDA context, which
 * takes memory, and before any rank allocates. */
DeviceMemory
device_memory (const SearchOptions *options, const CuvProcessor *processor)
{
  const gsize n_local = (gsize) ranks.n_local;
  gsize host, device = 0;
  DeviceMemory self;

  ranks_wait_for_all ();
  host = read_free_memory ();
  if (processor->on_device)
    device = cuv_ldp_scan_free_memory ();
  ranks_wait_for_all ();
  /* the fractions that docs/cuvision-search.md states in "Memory" */
  self = (DeviceMemory){ host / 10 * 7 / n_local, host / 16 / n_local };
  if (processor->on_device)
    self.histograms = device / 10 * 9
        / ((n_local + (gsize) n_devices - 1) / (gsize) n_devices);
  if (options->memory_limit >= 0)
    self.histograms = (gsize) options->memory_limit << 20;
  return self;
}
