// Package events publishes events of the platform. Made by `partner-api event types --generate go`. Needs Go 1.19.
package events

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	mathrand "math/rand"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// Data is the data of an event: one of the types of this package.
type Data interface{ eventType() string }

// Nullable is an optional member that may be null: absent if it is nil.
type Nullable[T any] map[bool]T

// Some is a member with a value.
func Some[T any](value T) Nullable[T] { return Nullable[T]{true: value} }

// Null is a member that is null.
func Null[T any]() Nullable[T] {
	var none T
	return Nullable[T]{false: none}
}

// MarshalJSON writes the value or null.
func (n Nullable[T]) MarshalJSON() ([]byte, error) {
	if value, ok := n[true]; ok {
		return json.Marshal(value)
	}
	return []byte("null"), nil
}

// UnmarshalJSON reads the value or null.
func (n *Nullable[T]) UnmarshalJSON(text []byte) error {
	if string(text) == "null" {
		*n = Null[T]()
		return nil
	}
	var value T
	err := json.Unmarshal(text, &value)
	*n = Some(value)
	return err
}

// writeFurther writes fields and further members as one object. A field comes before a further member of its name.
func writeFurther[T any](fields any, further map[string]T) ([]byte, error) {
	text, err := json.Marshal(fields)
	if err != nil || len(further) == 0 {
		return text, err
	}
	members := map[string]json.RawMessage{}
	for name, value := range further {
		if members[name], err = json.Marshal(value); err != nil {
			return nil, err
		}
	}
	if err := json.Unmarshal(text, &members); err != nil {
		return nil, err
	}
	return json.Marshal(members)
}

// readFurther reads an object: fields with the names, and further members.
func readFurther[T any](text []byte, fields any, further *map[string]T, names ...string) error {
	if err := json.Unmarshal(text, fields); err != nil {
		return err
	}
	members := map[string]json.RawMessage{}
	if err := json.Unmarshal(text, &members); err != nil {
		return err
	}
	for _, name := range names {
		delete(members, name)
	}
	*further = make(map[string]T, len(members))
	for name, member := range members {
		var value T
		if err := json.Unmarshal(member, &value); err != nil {
			return err
		}
		(*further)[name] = value
	}
	return nil
}

// begin types
// end types

// NewEvent is an event to publish.
type NewEvent struct {
	// Organization is the id, org_…, or the slug.
	Organization string
	Data         Data
	// OccurredAt is the time of publishing if it is zero.
	OccurredAt time.Time
	// DedupeKey is random if it is empty, so that a retry is safe. A second event with a key within 24 hours is not published.
	DedupeKey string
}

// Published is the result of an event.
type Published struct {
	EventID    string `json:"event_id"`
	Deliveries int    `json:"deliveries"`
	// Duplicate says whether an event with the same key had been published before.
	Duplicate bool `json:"duplicate"`
}

// PublishError says that the service refused the events, or did not answer at any attempt.
type PublishError struct {
	// Status is 0 if there was no answer.
	Status int
	// Detail is the problem document, or the error of the connection.
	Detail string
}

func (e *PublishError) Error() string {
	return fmt.Sprintf("not published: status %d: %s", e.Status, e.Detail)
}

// Publisher publishes events. BaseURL and Token are required.
type Publisher struct {
	// BaseURL is the address of the operator API, without /api/v1/admin.
	BaseURL string
	// Token is an operator token. The role publish suffices.
	Token string
	// Attempts is how often a request is sent at most; 0 means 5.
	Attempts int
	// Delay is the time before the second attempt, and doubles each time; 0 means 200 ms.
	Delay time.Duration
	// Client is a client with a timeout of 15 s if it is nil.
	Client *http.Client
}

// Publish returns once the event is durable.
func (p *Publisher) Publish(ctx context.Context, event NewEvent) (Published, error) {
	published, err := p.PublishAll(ctx, []NewEvent{event})
	if err != nil {
		return Published{}, err
	}
	return published[0], nil
}

type sentEvent struct {
	Organization string     `json:"organization"`
	Type         string     `json:"type"`
	Data         Data       `json:"data"`
	OccurredAt   *time.Time `json:"occurred_at,omitempty"`
	DedupeKey    string     `json:"dedupe_key"`
}

// PublishAll publishes 1 to 1,000 events, all or nothing.
func (p *Publisher) PublishAll(ctx context.Context, events []NewEvent) ([]Published, error) {
	if fault := p.fault(ctx); fault != "" {
		return nil, errors.New("events: " + fault)
	}
	// Made once: every attempt repeats these keys, so that no event is published twice.
	sent := make([]sentEvent, len(events))
	for i, event := range events {
		if event.Data == nil {
			return nil, fmt.Errorf("events: event %d has no Data", i+1)
		}
		sent[i] = sentEvent{event.Organization, event.Data.eventType(), event.Data, nil, event.DedupeKey}
		if !event.OccurredAt.IsZero() {
			at := event.OccurredAt.UTC()
			sent[i].OccurredAt = &at
		}
		if event.DedupeKey == "" {
			key := make([]byte, 16)
			if _, err := rand.Read(key); err != nil {
				return nil, err
			}
			sent[i].DedupeKey = hex.EncodeToString(key)
		}
	}
	body, err := json.Marshal(map[string]any{"events": sent})
	if err != nil {
		return nil, err
	}
	text, err := p.send(ctx, body)
	if err != nil {
		return nil, err
	}
	var answer struct{ Items []Published }
	if err := json.Unmarshal(text, &answer); err != nil {
		return nil, err
	}
	if len(answer.Items) != len(events) {
		return nil, &PublishError{http.StatusAccepted, "the answer does not name every event"}
	}
	return answer.Items, nil
}

// fault names what no attempt can get past.
func (p *Publisher) fault(ctx context.Context) string {
	switch {
	case ctx == nil:
		return "the context is nil: pass context.Background()"
	case !strings.HasPrefix(p.address(), "http://") && !strings.HasPrefix(p.address(), "https://"):
		return "BaseURL must be the address of the operator API, http://… or https://…"
	case strings.HasSuffix(p.address(), "/api/v1/admin"):
		return "BaseURL must be the address without /api/v1/admin"
	case p.Token == "" || strings.ContainsAny(p.Token, " \t\r\n"):
		return "Token must be an operator token without white space: is the environment variable set?"
	}
	return ""
}

func (p *Publisher) address() string { return strings.TrimRight(strings.TrimSpace(p.BaseURL), "/") }

func (p *Publisher) send(ctx context.Context, body []byte) ([]byte, error) {
	attempts, delay := p.Attempts, p.Delay
	if attempts == 0 {
		attempts = 5
	}
	if delay == 0 {
		delay = 200 * time.Millisecond
	}
	for attempt := 1; ; attempt++ {
		status, text, wait := p.attempt(ctx, body)
		if status == http.StatusAccepted {
			return text, nil
		}
		mayPass := status == 0 || status == http.StatusTooManyRequests || status >= 500
		if !mayPass || attempt >= attempts {
			return nil, &PublishError{status, string(text)}
		}
		if backoff := time.Duration(float64(delay) * (1 + mathrand.Float64())); wait < backoff {
			wait = backoff
		}
		delay *= 2
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(wait):
		}
	}
}

func (p *Publisher) attempt(ctx context.Context, body []byte) (int, []byte, time.Duration) {
	url := p.address() + "/api/v1/admin/events"
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, url, bytes.NewReader(body))
	if err != nil {
		return 0, []byte(err.Error()), 0
	}
	request.Header.Set("Authorization", "Bearer "+p.Token)
	request.Header.Set("Content-Type", "application/json")
	client := p.Client
	if client == nil {
		client = &http.Client{Timeout: 15 * time.Second}
	}
	response, err := client.Do(request)
	if err != nil {
		return 0, []byte(err.Error()), 0
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	// The status of a refusal counts even if the body is incomplete.
	if err != nil && response.StatusCode == http.StatusAccepted {
		return 0, []byte(err.Error()), 0
	}
	seconds, _ := strconv.Atoi(response.Header.Get("Retry-After"))
	return response.StatusCode, text, time.Duration(seconds) * time.Second
}
