/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A visionwebsink at a free port, and clients for it. */
#ifndef WATCH_H
#define WATCH_H

#include <gio/gio.h>
#include "cuvelements.h"

GstElement *web_sink_new (const gchar *settings);

/* Requests the path. */
GSocketConnection *web_request (GstElement *element, const gchar *path);

/* Requests the path, and waits until the client is a viewer. */
GSocketConnection *web_watch (GstElement *element, const gchar *path);

/* Reads until the text comes. */
void web_read_until (GSocketConnection *viewer, const gchar *text);

/* Returns the body of a response that ends. */
GBytes *web_read_body (GSocketConnection *viewer);

#endif
