package main

import (
	"encoding/json"
	"io"
	"net/http"
	"os"
	"time"

	"partner-api.example/webhook"
)

// check returns 204 and the event, or another status and the verdict.
func check(w http.ResponseWriter, r *http.Request) (status int, result any) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, 1<<20)) // The raw bytes.
	if err != nil {
		return http.StatusRequestEntityTooLarge, nil
	}
	secrets := []string{os.Getenv("PARTNER_SECRET")} // Several during a rotation.
	verdict := webhook.Verify(secrets, r.Header, body, time.Now())
	if verdict != webhook.Valid {
		return http.StatusBadRequest, verdict
	}
	var event map[string]any
	if err := json.Unmarshal(body, &event); err != nil {
		return http.StatusBadRequest, webhook.Malformed
	}
	return http.StatusNoContent, event
}
