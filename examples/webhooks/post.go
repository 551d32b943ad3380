package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/heraldbus/herald"
	"github.com/heraldbus/herald/policy"
)

const (
	answerLimit     = 4 << 10     // bytes of an answer that are read, so that its connection can be used again
	retryAfterLimit = time.Minute // a receiver can't ask for more
)

// A content is what a receiver gets to read. It's the same at every attempt.
type content struct {
	Type      string          `json:"type"`
	Timestamp time.Time       `json:"timestamp"` // when the event was accepted
	Sequence  uint64          `json:"sequence"`  // grows; a receiver may check its order by it
	Data      json.RawMessage `json:"data"`
}

// post makes one request, and returns what to make of the answer.
func (d *dispatcher) post(ctx context.Context, m herald.Message[Event]) error {
	req, err := newRequest(ctx, d.known[m.Payload.Receiver], m)
	if err != nil {
		return policy.Permanent(err)
	}
	answer, err := d.client.Do(req)
	if err != nil {
		return noAnswer(ctx, err)
	}
	defer answer.Body.Close()
	io.CopyN(io.Discard, answer.Body, answerLimit) // its status has been said, whatever comes of the rest
	return d.verdict(answer, m.Attempt)
}

func newRequest(ctx context.Context, to Receiver, m herald.Message[Event]) (*http.Request, error) {
	e := m.Payload
	body, err := json.Marshal(content{Type: e.Type, Timestamp: m.Time().UTC(), Sequence: m.Seq, Data: e.Data})
	if err != nil {
		return nil, err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, to.URL, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	req.Header.Set("Content-Type", "application/json")
	to.Secret.sign(req.Header, m.ID(), body)
	return req, nil
}

// noAnswer says why there was none, without the URL: what is in it may be nobody's business.
func noAnswer(ctx context.Context, err error) error {
	if cause := context.Cause(ctx); cause != nil {
		return cause
	}
	if u, ok := errors.AsType[*url.Error](err); ok {
		return u.Err
	}
	return err
}

// A statusError is an answer other than success.
type statusError int

func (e statusError) Error() string {
	return fmt.Sprintf("%d %s", int(e), http.StatusText(int(e)))
}

// verdict returns nil if the receiver has taken the event, else an error that leaves it to the retry policy whether
// there'll be another attempt, or decides that itself.
func (d *dispatcher) verdict(answer *http.Response, attempt int32) error {
	err := statusError(answer.StatusCode)
	switch code := answer.StatusCode; {
	case code/100 == 2:
		return nil
	case code/100 == 5 || code == http.StatusTooManyRequests:
		return d.retryAfter(answer, attempt, err)
	case code == http.StatusRequestTimeout || code == http.StatusTooEarly:
		return err
	}
	return policy.Permanent(err) // the same request would get the same answer
}

// retryAfter lets the receiver say when to come back. The last attempt is left to the policy, as a verdict would go on
// without end.
func (d *dispatcher) retryAfter(answer *http.Response, attempt int32, err error) error {
	seconds, parseErr := strconv.Atoi(answer.Header.Get("Retry-After"))
	if parseErr != nil || seconds < 0 || int(attempt) >= d.retry.Attempts {
		return err
	}
	return policy.RetryAfter(min(time.Duration(seconds), retryAfterLimit/time.Second)*time.Second, err)
}
