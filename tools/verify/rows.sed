# SPDX-License-Identifier: LGPL-2.1-or-later
# Prints the rows of the table in docs/verified.md as a C string.
1s/.*/static const char verified_rows[] = ""/p
/^| `/s/.*/  "&\\n"/p
$s/.*/;/p
