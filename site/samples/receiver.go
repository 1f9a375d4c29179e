package main

import (
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"strings"
	"sync"
	"time"

	"receiver/webhook"
)

const maxBytes = 1 << 20 // Deliveries are smaller.

var secret = os.Getenv("PARTNER_SECRET") // Several during a rotation, with commas between.
var seen sync.Map                        // In production: a table with a unique key on the event's id.

func receive(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBytes)) // Raw bytes.
	if err != nil {
		refuse(w, http.StatusRequestEntityTooLarge, "more than 1 MiB, or cut off")
		return
	}
	signature := strings.Join(r.Header.Values("X-VC-Signature"), ",")
	timestamp := strings.Join(r.Header.Values("X-VC-Timestamp"), ",")
	verdict := webhook.Verify(strings.Split(secret, ","), signature, timestamp, body, time.Now().UnixMilli())
	if verdict != "valid" {
		refuse(w, http.StatusBadRequest, verdict)
		return
	}

	var event struct {
		Event, ID string
		Data      struct{ Message string }
	}
	if err := json.Unmarshal(body, &event); err != nil {
		refuse(w, http.StatusBadRequest, "malformed")
		return
	}
	if _, isDuplicate := seen.LoadOrStore(event.ID, true); !isDuplicate {
		fmt.Printf("received %s %s: %s\n", event.Event, event.ID, event.Data.Message)
	}
	w.WriteHeader(http.StatusNoContent) // Store the event, respond within 10 seconds, process it later.
}

func refuse(w http.ResponseWriter, status int, reason string) {
	fmt.Printf("refused with %d: %s\n", status, reason)
	w.WriteHeader(status)
}

func main() {
	if secret == "" {
		log.Fatal("PARTNER_SECRET is not set")
	}
	port := os.Getenv("PORT")
	if port == "" {
		port = "3000"
	}
	listener, err := net.Listen("tcp", ":"+port)
	if err != nil {
		log.Fatal(err)
	}
	http.HandleFunc("/", receive)
	fmt.Printf("receiving on port %d\n", listener.Addr().(*net.TCPAddr).Port)
	if pem := os.Getenv("TLS_PEM"); pem != "" { // For local tests. Otherwise a proxy terminates TLS.
		log.Fatal(http.ServeTLS(listener, nil, pem, pem))
	}
	log.Fatal(http.Serve(listener, nil))
}
