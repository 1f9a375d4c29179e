node receiver.mjs
