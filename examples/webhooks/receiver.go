package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"os"
)

// A Receiver is an endpoint that wants to be told.
type Receiver struct {
	Name   string `json:"name"`
	URL    string `json:"url"`
	Secret Secret `json:"secret"` // shared with it, to sign by
}

func (r Receiver) check() error {
	u, err := url.Parse(r.URL)
	switch {
	case r.Name == "":
		return errors.New("a receiver without name")
	case err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https":
		return fmt.Errorf("receiver %s: %q is no http or https URL", r.Name, r.URL)
	case len(r.Secret) == 0:
		return fmt.Errorf("receiver %s: no secret", r.Name)
	}
	return nil
}

// readReceivers reads a JSON file with a list of receivers.
func readReceivers(file string) ([]Receiver, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	var receivers []Receiver
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(&receivers); err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	return receivers, nil
}

// byName checks receivers and returns them by their names.
func byName(receivers []Receiver) (map[string]Receiver, error) {
	if len(receivers) == 0 {
		return nil, errors.New("no receivers")
	}
	m := make(map[string]Receiver, len(receivers))
	for _, r := range receivers {
		if err := r.check(); err != nil {
			return nil, err
		}
		if _, ok := m[r.Name]; ok {
			return nil, fmt.Errorf("two receivers are named %s", r.Name)
		}
		m[r.Name] = r
	}
	return m, nil
}
