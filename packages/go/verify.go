// Package webhook verifies the deliveries of Partner API.
package webhook

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
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
// raw bytes, before any parsing. It panics at mistakes of the receiving program, which no delivery can cause: a secret that is empty,
// missing or not as issued, no header, a time that is zero, or a body that was read or parsed before or is in base64.
func Verify(secrets []string, header http.Header, body []byte, now time.Time) Verdict {
	if len(secrets) == 0 {
		panic("webhook: a signing secret is missing")
	}
	for _, secret := range secrets {
		if secret == "" {
			panic("webhook: a signing secret is empty")
		}
		if strings.Trim(secret, " \t\r\n\"'`") != secret {
			panic("webhook: white space or a quote surrounds a signing secret")
		}
		if !strings.HasPrefix(secret, "whsec_") || secret == "whsec_" || strings.ContainsAny(secret, ", ") {
			panic("webhook: a signing secret is not as issued, from whsec_ to its end")
		}
	}
	if header == nil {
		panic("webhook: the header is nil: pass r.Header")
	}
	if now.IsZero() {
		panic("webhook: the time is zero: pass time.Now()")
	}
	signature, timestamp := one(header, "X-VC-Signature"), one(header, "X-VC-Timestamp")
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
	if isSigned(secrets, signature, timestamp, body) {
		return Valid
	}
	if wasChanged(header, len(body)) {
		panic("webhook: the body is not what arrived: it was read or parsed before. Read it once, with io.ReadAll(r.Body)")
	}
	if decoded, err := base64.StdEncoding.DecodeString(string(body)); err == nil && isSigned(secrets, signature, timestamp, decoded) {
		panic("webhook: the body is in base64: decode it first, in AWS Lambda if IsBase64Encoded")
	}
	return Forged
}

func isSigned(secrets []string, signature, timestamp string, body []byte) bool {
	is := false
	for _, secret := range secrets {
		if hmac.Equal([]byte(signature), []byte(sign(secret, timestamp, body))) {
			is = true
		}
	}
	return is
}

// wasChanged says whether the body has more bytes than arrived, or none. It may have fewer, if the program limits them, and
// decoding changes their number.
func wasChanged(header http.Header, size int) bool {
	arrived, err := strconv.ParseInt(one(header, "Content-Length"), 10, 63)
	isEncoded := one(header, "Content-Encoding") != "" || one(header, "Transfer-Encoding") != ""
	return err == nil && arrived >= 0 && !isEncoded && (int64(size) > arrived || size == 0 && arrived > 0)
}

func sign(secret, timestamp string, body []byte) string {
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write([]byte(timestamp + "."))
	mac.Write(body)
	return prefix + hex.EncodeToString(mac.Sum(nil))
}

// one returns the values of a header with commas between them, because a request with two of them is malformed. Headers of another
// program than net/http may be in any letter case.
func one(header http.Header, name string) string {
	var values []string
	for key, of := range header {
		if strings.EqualFold(key, name) {
			values = append(values, of...)
		}
	}
	return strings.Join(values, ", ")
}
