/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* How line.c starts the process of line-run.c. */
#ifndef CUV_LINE_PRIVATE_H
#define CUV_LINE_PRIVATE_H

/* The arguments of such a process: this option, the interval of reports in
 * milliseconds, and the ID of the process that started it. */
#define CUV_LINE_OPTION "--run-line"

#endif
