//go:build race

package main

// raceFactor divides the size of large tests under the race detector, which makes decoding ten times slower.
const raceFactor = 50
