// Package secret loads secrets and keeps them out of what is shown.
//
// A [Set] knows the secrets that a person has configured, loads each when it is
// needed, and says which tool may use it. Every value that was loaded goes into
// the set's [Redactor], which replaces it, plain and in the encodings of
// encodings.go, by the mark [redacted:NAME] wherever text leaves the daemon.
//
// Redaction is against accidents: a value that is printed, logged, quoted in an
// error. Who may run programs can disguise a value so that nobody recognises it;
// against that there are only the tools that a secret is for.
package secret
