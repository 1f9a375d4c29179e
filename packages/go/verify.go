// Package webhook verifies the deliveries of Partner API.
package webhook

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// Verdict is the result of a verification.
type Verdict string

const (
	Valid     Verdict = "valid"
	Malformed Verdict = "malformed"
	Stale     Verdict = "stale"
	Forged    Verdict = "forged"
)

// ReplayWindow is how far the timestamp of a delivery may lie from the receiver's clock, in either direction.
const ReplayWindow = 5 * time.Minute

const prefix = "sha256="

// Verify returns the verdict on a delivery. The secrets are those that may have signed: two while you rotate them. The body is the
// raw bytes, before any parsing. It panics if a secret is empty or missing: anybody could sign with it.
func Verify(secrets []string, header http.Header, body []byte, now time.Time) Verdict {
	if len(secrets) == 0 {
		panic("webhook: a signing secret is missing")
	}
	for _, secret := range secrets {
		if secret == "" {
			panic("webhook: a signing secret is empty")
		}
	}
	signature, timestamp := one(header, "X-Vc-Signature"), one(header, "X-Vc-Timestamp")
	if !strings.HasPrefix(signature, prefix) || strings.Contains(signature, ",") {
		return Malformed
	}
	sentAt, err := strconv.ParseUint(timestamp, 10, 63)
	if err != nil || len(timestamp) > 15 {
		return Malformed
	}
	age := now.UnixMilli() - int64(sentAt)
	if age > ReplayWindow.Milliseconds() || age < -ReplayWindow.Milliseconds() {
		return Stale
	}
	verdict := Forged
	for _, secret := range secrets {
		if hmac.Equal([]byte(signature), []byte(sign(secret, timestamp, body))) {
			verdict = Valid
		}
	}
	return verdict
}

func sign(secret, timestamp string, body []byte) string {
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write([]byte(timestamp + "."))
	mac.Write(body)
	return prefix + hex.EncodeToString(mac.Sum(nil))
}

// one returns the values of a header with commas between them, because a request with two of them is malformed.
func one(header http.Header, name string) string {
	return strings.Join(header.Values(name), ", ")
}
