//go:build race

package daemon

// raceDetector takes several times the memory and time of the program that it
// watches.
const raceDetector = true
