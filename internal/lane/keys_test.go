package lane

import "testing"

// TestKeysOfTheSameHash: two keys that collide in all bits are two keys.
func TestKeysOfTheSameHash(t *testing.T) {
	var k keys
	k.join(&Item{Key: "other"})
	lines := map[string]*keyLine{}
	for _, key := range []string{"a", "b", "c"} {
		it := &Item{Key: key}
		line := k.make(17)
		line.push(it, ofKey)
		line.len++
		it.line = line
		lines[key] = line
	}
	k.leave(lines["b"].first)
	for key, want := range map[string]*keyLine{"a": lines["a"], "b": nil, "c": lines["c"]} {
		if got := k.find(17, key); got != want {
			t.Errorf("found %p for %q, want %p", got, key, want)
		}
	}
}
