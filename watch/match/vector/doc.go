// Package vector finds bytes with the processor's vector instructions, where it has
// them. It has one function, in assembly for amd64 with AVX2 (any Intel or AMD
// processor since 2015); elsewhere [Has] is false, and callers have their own way.
package vector
