package main

import (
	"net/http"
	"testing"
	"testing/synctest"
	"time"
)

const vectorSecret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"

// TestSignatureVector compares with what the specification's own libraries make of their example, so that a receiver's
// existing library will accept ours.
func TestSignatureVector(t *testing.T) {
	var s Secret
	if err := s.UnmarshalText([]byte(vectorSecret)); err != nil {
		t.Fatal(err)
	}
	got := s.signature("msg_p5jXN8AQM9LWM0D4loKWxJek", "1614265330", []byte(`{"test": 2432232314}`))
	if want := "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="; got != want {
		t.Errorf("signature = %s, want %s", got, want)
	}
}

func TestVerify(t *testing.T) {
	body := []byte(`{"type":"test"}`)
	for name, c := range map[string]struct {
		change func(h http.Header)
		later  time.Duration
		body   string
		ok     bool
	}{
		"as signed":        {ok: true},
		"second of two":    {ok: true, change: func(h http.Header) { h.Set(headerSignature, "v1,b2xk "+h.Get(headerSignature)) }},
		"at the tolerance": {ok: true, later: tolerance},
		"too late":         {later: tolerance + time.Second},
		"too early":        {later: -tolerance - time.Second},
		"another ID":       {change: func(h http.Header) { h.Set(headerID, "evt-02") }},
		"another time":     {change: func(h http.Header) { h.Set(headerTimestamp, "946684801") }},
		"no time":          {change: func(h http.Header) { h.Del(headerTimestamp) }},
		"no signature":     {change: func(h http.Header) { h.Del(headerSignature) }},
		"another body":     {body: `{"type":"fest"}`},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h, got := http.Header{}, body
				time.Sleep(time.Hour) // of virtual time, so that a timestamp can be in the future
				Secret("key").sign(h, "evt-01", body)
				if c.later < 0 {
					h = signedAt(time.Now().Add(-c.later), body)
				} else {
					time.Sleep(c.later)
				}
				if c.change != nil {
					c.change(h)
				}
				if c.body != "" {
					got = []byte(c.body)
				}
				if err := Secret("key").verify(h, got); (err == nil) != c.ok {
					t.Errorf("verify = %v, want ok: %v", err, c.ok)
				}
			})
		})
	}
}

// signedAt returns headers as sign would have set them at another time.
func signedAt(at time.Time, body []byte) http.Header {
	timestamp := formatTime(at)
	h := http.Header{}
	h.Set(headerID, "evt-01")
	h.Set(headerTimestamp, timestamp)
	h.Set(headerSignature, Secret("key").signature("evt-01", timestamp, body))
	return h
}

// TestSecretText proves that what is wrong with a secret is said without the secret.
func TestSecretText(t *testing.T) {
	for _, text := range []string{"", "MfKQ", "whsec_???"} {
		var s Secret
		if err := s.UnmarshalText([]byte(text)); err == nil {
			t.Errorf("%q is a secret", text)
		}
	}
}
