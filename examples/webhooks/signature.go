package main

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// The headers of the Standard Webhooks specification. The ID is the idempotency key: the same for every attempt, and for
// a replay.
const (
	headerID        = "Webhook-Id"
	headerTimestamp = "Webhook-Timestamp"
	headerSignature = "Webhook-Signature"
)

const (
	secretPrefix    = "whsec_"
	signatureScheme = "v1,"
	tolerance       = 5 * time.Minute // between the clocks of sender and receiver; bounds how long a stolen request is good for
)

// A Secret is what a receiver shares with the sender. In text it is whsec_ and base64.
type Secret []byte

// UnmarshalText reads the text form.
func (s *Secret) UnmarshalText(text []byte) error {
	encoded, ok := strings.CutPrefix(string(text), secretPrefix)
	if !ok {
		return fmt.Errorf("a secret begins with %s", secretPrefix)
	}
	key, err := base64.StdEncoding.DecodeString(encoded)
	if err != nil {
		return errors.New("a secret that is no base64") // without the text: secrets aren't printed
	}
	*s = key
	return nil
}

// sign sets the three headers, for an attempt at this moment.
func (s Secret) sign(h http.Header, id string, body []byte) {
	timestamp := formatTime(time.Now())
	h.Set(headerID, id)
	h.Set(headerTimestamp, timestamp)
	h.Set(headerSignature, s.signature(id, timestamp, body))
}

func formatTime(t time.Time) string { return strconv.FormatInt(t.Unix(), 10) }

func (s Secret) signature(id, timestamp string, body []byte) string {
	mac := hmac.New(sha256.New, s)
	fmt.Fprintf(mac, "%s.%s.%s", id, timestamp, body)
	return signatureScheme + base64.StdEncoding.EncodeToString(mac.Sum(nil))
}

// verify is the receiver's side of sign.
func (s Secret) verify(h http.Header, body []byte) error {
	timestamp := h.Get(headerTimestamp)
	seconds, err := strconv.ParseInt(timestamp, 10, 64)
	if err != nil {
		return errors.New("no timestamp")
	}
	if time.Since(time.Unix(seconds, 0)).Abs() > tolerance {
		return errors.New("a timestamp too far from now")
	}
	want := s.signature(h.Get(headerID), timestamp, body)
	for got := range strings.FieldsSeq(h.Get(headerSignature)) { // several while a secret is replaced
		if hmac.Equal([]byte(got), []byte(want)) {
			return nil
		}
	}
	return errors.New("no signature that fits")
}
