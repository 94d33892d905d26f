// Package match compiles a search pattern and finds the lines of a text that it
// matches. It imports nothing of ours and reads no files.
//
// # The dialect
//
// Patterns are RE2's, over bytes, as "rg --no-unicode" has them:
//
//   - A text is split after each "\n". Without Multiline a match stays in its line:
//     "\n" in the pattern is an error, and a class that holds it, "." and "\s"
//     included, does not match it. With Multiline all lines that a match touches
//     are found.
//   - "^" and "$" are the borders of lines; "(?-m)" makes them those of the text.
//     "\A" and "\z" are the borders of the text, and without Multiline each line is
//     one. A carriage return at the end of a line belongs to its end: "$" also
//     matches before "\r\n" (rg needs --crlf for that).
//   - "." matches one byte that is not "\n", whatever it is; "\xff" is a byte. A
//     character beyond ASCII is its UTF-8 bytes, and stays whole under a repetition.
//   - "\d", "\w", "\s", "\b", "[[:alpha:]]" and case folding are ASCII; "\s" has the
//     vertical tab. A class that names a character beyond ASCII (an error in rg)
//     is one of characters and not of bytes.
//   - In classes "&&", "--", "~~" and nested brackets work. "\<", "\>" and
//     "\b{start}" and its like, and the flags i, m, s, U and x work; R is always on.
//   - "{" that starts no repetition, "-" beside a class such as "\w" in brackets,
//     "\Q...\E" and "\0" are taken as Go's regexp takes them (rg refuses them).
//   - A repetition of a repetition ("a**") is an error (rg takes it), and so is a
//     count over 1,000.
//
// # How a text is searched
//
// What a pattern needs decides: a pattern with a literal that is rare enough looks
// for that literal first and has the automaton look at the lines found. All others
// run through a lazily built automaton (dfa.go), four parts of the text at a time.
// An automaton that would grow too large is not kept: its sets of states are
// walked byte by byte. All of it takes time linear in the text.
package match
