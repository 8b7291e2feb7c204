// The counter unit of Blue Gene/P: COUNTERS counters of LOW_BITS + HIGH_BITS bits, each of which
// counts one of INPUTS events, with a threshold of its own. docs/counter-unit.md describes it, its
// registers and its bus; src/upc is the same as a model, with which tests compare every cycle.
//
// A counter's low bits are registers, its high bits a word of a memory. A carry latch stands between
// them until the state machine visits the word: it reads (phase 0), adds and compares (1) and writes
// back (2). In all later phases the bus may use the memories.
//
// An access is spread over three cycles. First it is taken and the memories are read or written;
// then they show their words, the shared incrementer and comparator work, and a counter may be armed;
// then the answer is at the bus.
module upc_unit #(
    parameter int unsigned COUNTERS = 256,
    parameter int unsigned INPUTS = 4,
    parameter int unsigned LOW_BITS = 12,
    parameter int unsigned HIGH_BITS = 52,
    parameter int unsigned CYCLES_PER_WORD = 16,
    parameter int unsigned GROUP = 4,
    localparam int unsigned RegionBits = COUNTERS < 16 ? 4 : $clog2(COUNTERS),
    localparam int unsigned AddressBits = RegionBits + 2
) (
    input logic clock,
    input logic reset,

    input logic [INPUTS*COUNTERS-1:0] events,

    // A request is taken in a cycle in which both valid and ready are set.
    input  logic                   request_valid,
    output logic                   request_ready,
    input  logic                   request_write,
    input  logic [AddressBits-1:0] request_address,  // of a 64-bit word
    // verilator lint_off UNUSEDSIGNAL
    input  logic [           63:0] request_data,  // small units leave the upper bits unused
    // verilator lint_on UNUSEDSIGNAL

    // Its answer, two cycles later, for one cycle. Error: 1 wrong parity, 2 no such register.
    output logic        response_valid,
    output logic [63:0] response_data,
    output logic [ 1:0] response_error,

    output logic irq
);
  localparam int unsigned IndexBits = COUNTERS < 2 ? 1 : $clog2(COUNTERS);
  localparam int unsigned PhaseBits = $clog2(CYCLES_PER_WORD);
  localparam int unsigned Groups = (COUNTERS + GROUP - 1) / GROUP;
  localparam int unsigned PendingWords = (COUNTERS + 63) / 64;
  localparam int unsigned VisitCycles = 3;
  localparam logic [63:0] Geometry = {
    8'd1, 8'(GROUP), 8'(CYCLES_PER_WORD), 8'(HIGH_BITS), 8'(LOW_BITS), 8'(INPUTS), 16'(COUNTERS)
  };

  if (COUNTERS * CYCLES_PER_WORD > (1 << LOW_BITS))
    $error("The state machine is back after COUNTERS * CYCLES_PER_WORD cycles, too late for LOW_BITS");
  if (CYCLES_PER_WORD <= VisitCycles) $error("A visit takes 3 cycles, and the bus needs one");
  if (LOW_BITS + HIGH_BITS > 64) $error("A register has 64 bits");
  if (GROUP < 1 || GROUP > 8) $error("A configuration word holds 1 to 8 counters");

  typedef enum logic [3:0] {
    None,
    Visit,
    ReadCounter,
    WriteCounter,
    ReadThreshold,
    WriteThreshold,
    Control,
    Configuration,
    BadAddress
  } access_t;

  // ---- State machine ------------------------------------------------------------------------
  logic clearing;  // the memories hold anything after power-on: zeros are written first
  logic [PhaseBits-1:0] phase;
  logic [IndexBits-1:0] visited;
  logic last_phase, last_word;

  assign last_phase = phase == PhaseBits'(CYCLES_PER_WORD - 1);
  assign last_word  = visited == IndexBits'(COUNTERS - 1);

  always_ff @(posedge clock) begin
    if (reset) begin
      clearing <= 1'b1;
      phase <= '0;
      visited <= '0;
    end else if (clearing) begin
      visited <= last_word ? '0 : visited + 1'b1;
      if (last_word) clearing <= 1'b0;
    end else begin
      phase <= last_phase ? '0 : phase + 1'b1;
      if (last_phase) visited <= last_word ? '0 : visited + 1'b1;
    end
  end

  // ---- First cycle of an access -------------------------------------------------------------
  logic is_visit, taken;
  access_t kind;
  logic [1:0] region;
  logic [RegionBits-1:0] word;
  logic [IndexBits-1:0] index;
  logic word_is_counter, word_is_group, word_is_pending;

  assign request_ready = !clearing && phase >= PhaseBits'(VisitCycles);
  assign taken = request_valid && request_ready;
  assign is_visit = !clearing && phase == '0;
  assign {region, word} = request_address;
  assign index = is_visit ? visited : word[IndexBits-1:0];
  assign word_is_counter = {1'b0, word} < (RegionBits + 1)'(COUNTERS);
  assign word_is_group = {1'b0, word} < (RegionBits + 1)'(Groups);
  assign word_is_pending = word >= RegionBits'(8) && {1'b0, word} < (RegionBits + 1)'(8 + PendingWords);

  always_comb begin
    kind = None;
    if (is_visit) begin
      kind = Visit;
    end else if (taken) begin
      kind = BadAddress;
      case (region)
        2'd0:
        if (word_is_pending || word < RegionBits'(2) || (word == RegionBits'(2) && !request_write))
          kind = Control;
        2'd1: if (word_is_counter) kind = request_write ? WriteCounter : ReadCounter;
        2'd2: if (word_is_counter) kind = request_write ? WriteThreshold : ReadThreshold;
        default: if (word_is_group) kind = Configuration;
      endcase
    end
  end

  // ---- Registers ----------------------------------------------------------------------------
  logic run;
  logic [8*COUNTERS-1:0] setups;
  logic [COUNTERS-1:0] is_new, enabled;
  logic [COUNTERS-1:0] carry, armed, pending;
  logic [COUNTERS-1:0] at_index, arm, carry_out, fire, acknowledged;
  logic [7*COUNTERS-1:0] modes;
  logic [LOW_BITS*COUNTERS-1:0] low;

  for (genvar i = 0; i < COUNTERS; i++) begin : register
    assign modes[7*i+:7] = setups[8*i+:7];
    assign enabled[i] = setups[8*i+7];
    assign at_index[i] = index == IndexBits'(i);
    assign acknowledged[i] = kind == Control && request_write && word == RegionBits'(8 + i / 64) &&
        request_data[i%64];
    always_ff @(posedge clock) begin
      if (reset) begin
        setups[8*i+:8] <= '0;
        is_new[i] <= 1'b1;
      end else begin
        is_new[i] <= kind == Configuration && request_write && word == RegionBits'(i / GROUP);
        if (kind == Configuration && request_write && word == RegionBits'(i / GROUP))
          setups[8*i+:8] <= request_data[8*(i%GROUP)+:8];
      end
    end
  end

  upc_event_counters #(
      .COUNTERS(COUNTERS),
      .INPUTS  (INPUTS),
      .LOW_BITS(LOW_BITS)
  ) event_counters (
      .clock,
      .reset,
      .run,
      .events,
      .setup(modes),
      .is_new,
      .write(kind == WriteCounter ? at_index : '0),
      .write_data(request_data[LOW_BITS-1:0]),
      .carry_out,
      .low
  );

  // A carry-out of this very cycle is taken by a visit too: the latch is free again at once, and a
  // counter is armed in time for the carry-out that may follow 2^LOW_BITS cycles later.
  assign fire = carry_out & (armed | arm) & enabled;

  always_ff @(posedge clock) begin
    if (reset) begin
      run <= 1'b0;
      carry <= '0;
      armed <= '0;
      pending <= '0;
    end else begin
      carry <= (carry | carry_out) & ~(kind == Visit || kind == WriteCounter ? at_index : '0);
      armed <= (armed | arm) & ~carry_out &
          ~(kind == WriteCounter || kind == WriteThreshold ? at_index : '0);
      pending <= (pending & ~acknowledged) | fire;
      if (kind == Control && request_write && word == '0) run <= request_data[0];
    end
  end

  // ---- Memories -----------------------------------------------------------------------------
  logic uses_memories, write_back;
  logic [HIGH_BITS-1:0] request_high;
  logic [HIGH_BITS:0] value_in, value_out, threshold_in, threshold_out;  // the top bit is parity
  logic [HIGH_BITS:0] sum;
  logic sum_is_new;

  assign write_back = !clearing && phase == PhaseBits'(2) && sum_is_new;
  assign uses_memories = kind == Visit || kind == ReadCounter || kind == WriteCounter ||
      kind == ReadThreshold || kind == WriteThreshold;
  assign request_high = request_data[LOW_BITS+:HIGH_BITS];
  assign value_in = clearing ? '0 : write_back ? sum : {^request_high, request_high};
  assign threshold_in = clearing ? '0 : {^request_high, request_high};

  upc_memory #(
      .WORDS(COUNTERS),
      .WIDTH(HIGH_BITS + 1),
      .ADDRESS_BITS(IndexBits)
  ) values (
      .clock,
      .enable(clearing || write_back || uses_memories),
      .write(clearing || write_back || kind == WriteCounter),
      .address(clearing || write_back ? visited : index),
      .data_in(value_in),
      .data_out(value_out)
  );

  upc_memory #(
      .WORDS(COUNTERS),
      .WIDTH(HIGH_BITS + 1),
      .ADDRESS_BITS(IndexBits)
  ) thresholds (
      .clock,
      .enable(clearing || uses_memories),
      .write(clearing || kind == WriteThreshold),
      .address(clearing ? visited : index),
      .data_in(threshold_in),
      .data_out(threshold_out)
  );

  // ---- Second cycle of an access ------------------------------------------------------------
  access_t access;
  logic [IndexBits-1:0] access_index;
  logic access_carry;
  logic [63:0] access_answer, answer;
  logic checks, value_wrong, threshold_wrong, is_match;
  logic [HIGH_BITS-1:0] next_high;
  logic [1:0] status, status_kept, status_set;
  logic [IndexBits-1:0] status_index;

  always_comb begin
    answer = '0;
    if (kind == ReadCounter) begin
      for (int unsigned i = 0; i < COUNTERS; i++) begin
        if (at_index[i]) answer[LOW_BITS-1:0] = low[LOW_BITS*i+:LOW_BITS];
      end
    end
    if (kind == Configuration && !request_write) begin
      for (int unsigned i = 0; i < COUNTERS; i++) begin
        if (word == RegionBits'(i / GROUP)) answer[8*(i%GROUP)+:8] = setups[8*i+:8];
      end
    end
    if (kind == Control && !request_write) begin
      if (word == RegionBits'(0)) answer[0] = run;
      if (word == RegionBits'(1)) answer = {(32)'(status_index), 30'b0, status};
      if (word == RegionBits'(2)) answer = Geometry;
      for (int unsigned i = 0; i < COUNTERS; i++) begin
        if (word == RegionBits'(8 + i / 64)) answer[i%64] = pending[i];
      end
    end
  end

  always_ff @(posedge clock) begin
    if (reset) begin
      access <= None;
      access_index <= '0;
      access_carry <= 1'b0;
      access_answer <= '0;
    end else begin
      access <= kind;
      access_index <= index;
      access_carry <= (kind == ReadCounter && carry[index]) ||
          ((kind == Visit || kind == WriteThreshold) && (carry[index] || carry_out[index]));
      access_answer <= answer;
    end
  end

  assign checks = access == Visit || access == ReadCounter || access == WriteCounter ||
      access == ReadThreshold || access == WriteThreshold;
  assign value_wrong = ^value_out;
  assign threshold_wrong = ^threshold_out;
  assign next_high = value_out[HIGH_BITS-1:0] + HIGH_BITS'(access_carry);
  assign is_match = (access == Visit || access == WriteCounter || access == WriteThreshold) &&
      !value_wrong && !threshold_wrong && next_high == threshold_out[HIGH_BITS-1:0];

  for (genvar i = 0; i < COUNTERS; i++) begin : arming
    assign arm[i] = is_match && access_index == IndexBits'(i) && enabled[i];
  end

  // What was wrong stays wrong until it is written: the parity of a sum is that of its word.
  always_ff @(posedge clock) begin
    if (reset) begin
      sum <= '0;
      sum_is_new <= 1'b0;
    end else if (access == Visit) begin
      sum <= {^next_high ^ value_wrong, next_high};
      sum_is_new <= access_carry;
    end
  end

  // ---- Parity errors ------------------------------------------------------------------------
  assign status_kept = kind == Control && request_write && word == RegionBits'(1) ?
      status & ~request_data[1:0] : status;
  assign status_set = {checks && threshold_wrong, checks && value_wrong};

  always_ff @(posedge clock) begin
    if (reset) begin
      status <= '0;
      status_index <= '0;
    end else begin
      status <= status_kept | status_set;
      if (status_kept == '0) status_index <= status_set == '0 ? '0 : access_index;
    end
  end

  // ---- Answer -------------------------------------------------------------------------------
  logic [63:0] counter_value, threshold_value;

  always_comb begin
    counter_value = access_answer;
    counter_value[LOW_BITS+:HIGH_BITS] = next_high;
    threshold_value = '0;
    threshold_value[LOW_BITS+:HIGH_BITS] = threshold_out[HIGH_BITS-1:0];
  end

  always_ff @(posedge clock) begin
    response_valid <= 1'b0;
    response_data  <= '0;
    response_error <= '0;
    if (!reset) begin
      response_valid <= access != None && access != Visit;
      case (access)
        ReadCounter: begin
          response_data  <= counter_value;
          response_error <= {1'b0, value_wrong};
        end
        ReadThreshold: begin
          response_data  <= threshold_value;
          response_error <= {1'b0, threshold_wrong};
        end
        Control, Configuration: response_data <= access_answer;
        BadAddress: response_error <= 2'd2;
        default: ;
      endcase
    end
  end

  assign irq = |pending || |status;
endmodule
