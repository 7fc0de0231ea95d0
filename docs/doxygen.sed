# Makes the comments of the headers ones that doxygen reads.
1d
2s,/\* ,/** \\file\n * ,
/^\/\* ----.*---- \*\/$/d
s,^/\* ---- (.*) ----$,/** \\file\n * \1,
s,^( *)/\* ,\1/** ,
s,([;\,A-Z0-9_]) +/\* ,\1 /**< ,
s,^ \* @([a-z_]+): , * \\param \1 ,
s,^ \* Returns: , * \\return ,
